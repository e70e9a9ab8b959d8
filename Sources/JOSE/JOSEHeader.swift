package import Basics
package import JSONText

/// The protected header of a token (RFC 7515 section 4).
///
/// `jku`, `jwk`, `x5u` and `x5c` are not read: with a key from the token itself, any client could
/// sign.
package struct JOSEHeader: Sendable {
    /// The header as JSON.
    package let text: JSONSlice
    /// `alg`, which need not be an algorithm that exists.
    package let algorithmName: Bytes
    /// `kid`
    package let keyID: Bytes?
    /// `typ`
    package let type: Bytes?

    init(_ bytes: Bytes) throws(TokenFault) {
        text = try TokenObject.read(bytes, .header)
        var algorithm: JSONSlice?
        var keyID: JSONSlice?
        var type: JSONSlice?
        for member in text.members {
            switch true {
            case member.key.means(Name.algorithm): algorithm = member.value
            case member.key.means(Name.keyID): keyID = member.value
            case member.key.means(Name.type): type = member.value
            case member.key.means(Name.critical): throw .untrusted(.critical)
            default: break
            }
        }
        guard let name = algorithm?.stringText else { throw .malformed(.parameter("alg")) }
        algorithmName = name
        self.keyID = try Self.string(keyID, "kid")
        self.type = try Self.string(type, "typ")
    }

    private static func string(_ value: JSONSlice?, _ name: String) throws(TokenFault) -> Bytes? {
        guard let value else { return nil }
        guard let text = value.stringText else { throw .malformed(.parameter(name)) }
        return text
    }
}

/// Reads header and payload.
enum TokenObject {
    static func read(_ text: Bytes, _ part: TokenFault.Part) throws(TokenFault) -> JSONSlice {
        do throws(StrictObject.Fault) {
            return try StrictObject.read(text)
        } catch {
            switch error {
            case .notObject: throw .malformed(.notObject(part))
            case .duplicateName: throw .malformed(.duplicateName(part))
            }
        }
    }
}
