import Basics
import Foundation
import JSONText
import Testing

@testable import JOSE

/// A signed text with the public key that verifies it, from `Tests/Fixtures/jose`.
struct Vector: Sendable, CustomTestStringConvertible {
    let source: String
    let key: JSONSlice
    let token: Bytes

    var testDescription: String { source }

    static let rfc = vectors("rfc.json")
    /// One for each algorithm.
    static let algorithms = vectors("algorithms.json")

    static func file(_ name: String) throws -> Bytes {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/jose")
        return Bytes([UInt8](try Data(contentsOf: folder.appending(path: name))))
    }

    /// None if the file cannot be read, which `VectorTests` reports.
    private static func vectors(_ name: String) -> [Vector] {
        guard let text = try? file(name), let list = try? JSONSlice(validating: text) else {
            return []
        }
        return list.elements.compactMap { vector in
            guard let source = vector.member(Bytes("source"))?.text,
                let key = vector.member(Bytes("key")),
                let token = vector.member(Bytes("token"))?.text
            else { return nil }
            return Vector(source: String(source), key: key, token: token)
        }
    }

    /// A set of this key alone. Secrets are not read from sets, so theirs is made directly.
    func keySet() throws -> KeySet {
        guard let secret = key.member(Bytes("k"))?.text else {
            return try KeySet(jwkSet: Bytes("{\"keys\":[\(String(key.bytes))]}"))
        }
        return KeySet(secret: Bytes(Base64URL.decode(secret.span) ?? []))
    }
}
