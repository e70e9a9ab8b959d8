import Basics
import TLS

/// A short text that identifies the configuration of a process: replicas with the same files have the
/// same digest.
///
/// The first 64 bits of SHA-256 over the names and the contents of all files that were read. Values of
/// variables are left out: addresses differ between replicas, and a secret of few characters could be
/// guessed from a digest. Names are relative to the folder of the configuration, so that the same files
/// in another folder have the same digest.
package struct ConfigDigest: Sendable, Equatable, CustomStringConvertible {
    /// 16 hexadecimal digits.
    package let description: String

    /// What the digest says if OpenSSL cannot compute it.
    private static let unknown = "unknown"

    /// - Parameters:
    ///   - path: of the configuration
    ///   - contents: of each file that was read, by path
    init(of path: String, contents: [(path: String, bytes: [UInt8])]) {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        let files = contents.map { file in
            (
                name: file.path.hasPrefix(folder)
                    ? String(file.path.dropFirst(folder.count)) : file.path,
                bytes: file.bytes
            )
        }
        // One hash of fixed length for each name and each file, so that no two lists look alike.
        var list: [UInt8] = []
        for file in files.sorted(by: { $0.name < $1.name }) {
            guard let name = SHA256.hash(Array(file.name.utf8)),
                let bytes = SHA256.hash(file.bytes)
            else {
                description = Self.unknown
                return
            }
            list += name + bytes
        }
        description = SHA256.hash(list).map(Self.text) ?? Self.unknown
    }

    private static func text(of hash: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(
            hash.prefix(8).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
