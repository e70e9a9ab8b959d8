package import Basics
package import JSONText

/// Reads JSON objects of tokens and keys: no name may occur twice in an object, at any depth (RFC
/// 7515 section 4, RFC 7519 section 4), because two readers could use different ones.
enum StrictObject {
    enum Fault: Error {
        case notObject
        case duplicateName
    }

    /// How deep containers may nest.
    static let depthMax = 16

    /// The object that the text is.
    static func read(_ text: Bytes) throws(Fault) -> JSONSlice {
        guard let value = try? JSONSlice(validating: text, depthMax: depthMax) else {
            throw .notObject
        }
        guard value.kind == .object else { throw .notObject }
        try checkNames(in: value)
        return value
    }

    /// Checks the objects inside of a value; the containers that are still to be checked are listed
    /// instead of a recursion.
    static func checkNames(in value: JSONSlice) throws(Fault) {
        var open = [value]
        while let container = open.popLast() {
            if container.kind == .object {
                var names: Set<[UInt8]> = []
                for member in container.members {
                    let isNew = names.insert(member.key.unescaped.array).inserted
                    guard isNew else { throw .duplicateName }
                    if member.value.isContainer { open.append(member.value) }
                }
            } else {
                for element in container.elements where element.isContainer {
                    open.append(element)
                }
            }
        }
    }
}

extension JSONSlice {
    fileprivate var isContainer: Bool { kind == .object || kind == .array }

    /// The value of a member of this object, whose names are unique.
    package func member(_ name: Bytes) -> JSONSlice? {
        members.first { $0.key.means(name) }?.value
    }

    /// The text of a string; nil for every other kind of value.
    package var stringText: Bytes? { kind == .string ? text : nil }
}

/// The names of members, made once.
enum Name {
    static let algorithm = Bytes("alg")
    static let critical = Bytes("crit")
    static let type = Bytes("typ")
    static let keyID = Bytes("kid")

    static let issuer = Bytes("iss")
    static let audience = Bytes("aud")
    static let expires = Bytes("exp")
    static let notBefore = Bytes("nbf")

    static let keys = Bytes("keys")
    static let keyType = Bytes("kty")
    static let use = Bytes("use")
    static let operations = Bytes("key_ops")
    static let curve = Bytes("crv")
    static let modulus = Bytes("n")
    static let exponent = Bytes("e")
    static let secret = Bytes("k")
    static let x = Bytes("x")
    static let y = Bytes("y")
    static let privatePart = Bytes("d")
}
