import Basics
package import JOSE
import TestSupport

/// Signs tokens with two keys, `k1` and `k2`, for a gateway whose clock begins at
/// 2026-01-01T01:00:00Z.
package enum TestIssuer {
    /// The clock of the simulated loops at their start, in seconds since 1970.
    package static let start: Int64 = 1_767_229_200

    package static func signer(_ id: String) -> TokenSigner {
        let seed = [UInt8](repeating: UInt8(truncatingIfNeeded: id.hashValueOfText), count: 32)
        guard let signer = TokenSigner(seed: seed, keyID: id) else {
            preconditionFailure("OpenSSL has Ed25519")
        }
        return signer
    }

    /// The JWK Set with these keys.
    package static func keys(_ ids: String...) -> String {
        "{\"keys\":[\(ids.map { signer($0).publicKey }.joined(separator: ","))]}"
    }

    /// A token that is valid for ten minutes, unless its claims state otherwise.
    ///
    /// - Parameter claims: members of the payload, which replace those with the same name
    package static func token(_ claims: [String: String] = [:], by id: String = "k1") -> String {
        var members = [
            "iss": "\"https://id.test/\"", "aud": "\"shop\"", "sub": "\"ann\"",
            "exp": "\(start + 600)",
        ]
        members.merge(claims) { $1 }
        let payload = members.filter { $0.value != "" }.sorted { $0.key < $1.key }
            .map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        return signer(id).token("{\(payload)}").map { String($0) } ?? ""
    }

    /// The line of a request with a token.
    package static func bearer(_ claims: [String: String] = [:], by id: String = "k1") -> String {
        "Authorization: Bearer \(token(claims, by: id))"
    }
}

extension String {
    /// The same in every run.
    fileprivate var hashValueOfText: Int { utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xFF } }
}
