import Foundation
import TLS

/// Files of keys for tests.
package enum Keys {
    /// The hash of a key as a key file has it.
    package static func hash(_ key: String) -> String {
        let hash = SHA256.hash(Array(key.utf8)) ?? []
        return "sha256:" + hash.map { String(format: "%02x", $0) }.joined()
    }

    /// An entry of a key file, in flow style.
    ///
    /// - Parameters:
    ///   - key: the key or password itself
    ///   - more: further members, such as `scopes: [a]`
    package static func entry(
        _ name: String, _ key: String, user: Bool = false, _ more: String = ""
    )
        -> String
    {
        let members = ["\(user ? "user" : "id"): \(name)", "hash: \"\(hash(key))\"", more]
        return "- { " + members.filter { !$0.isEmpty }.joined(separator: ", ") + " }\n"
    }

    /// The value of `Authorization` for a user and a password.
    package static func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
