package import Basics
import COpenSSL

/// SHA-256, by OpenSSL.
package enum SHA256 {
    /// The length of a hash.
    package static let byteCount = 32

    /// The hash of the bytes; nil if OpenSSL cannot compute it, for lack of memory or because the
    /// system's policy forbids the algorithm.
    package static func hash(_ bytes: [UInt8]) -> [UInt8]? {
        var hash = [UInt8](repeating: 0, count: byteCount)
        let code = EVP_Digest(bytes, bytes.count, &hash, nil, EVP_sha256(), nil)
        if code != 1 { TLSErrors.clear() }
        return code == 1 ? hash : nil
    }
}

/// A SHA-256 hash as four words, the first byte the highest of the first word: a value without
/// memory of its own.
package struct SHA256Words: Sendable, Hashable {
    /// The first eight bytes.
    package let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// Nil unless there are 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        first = Self.word(0, of: bytes)
        second = Self.word(1, of: bytes)
        third = Self.word(2, of: bytes)
        fourth = Self.word(3, of: bytes)
    }

    private static func word(_ index: Int, of bytes: [UInt8]) -> UInt64 {
        var word: UInt64 = 0
        for position in (8 * index)..<(8 * index + 8) {
            word = word << 8 | UInt64(bytes[position])
        }
        return word
    }

    package static func == (left: SHA256Words, right: SHA256Words) -> Bool {
        left.isEqual(to: right)
    }

    /// Every word of a hash is one.
    package func hash(into hasher: inout Hasher) { hasher.combine(first) }

    /// Whether both are the same; takes the same time wherever they differ.
    package func isEqual(to other: SHA256Words) -> Bool {
        (first ^ other.first) | (second ^ other.second) | (third ^ other.third)
            | (fourth ^ other.fourth) == 0
    }
}

/// Computes many hashes with one context: without it, OpenSSL looks the algorithm up and allocates
/// a context for each of them. Confined to one thread.
package final class SHA256Hasher {
    private let context: OpaquePointer?
    private let algorithm: OpaquePointer?
    private var hash = [UInt8](repeating: 0, count: SHA256.byteCount)

    package init() {
        context = EVP_MD_CTX_new()
        algorithm = EVP_MD_fetch(nil, "SHA256", nil)
        if context == nil || algorithm == nil { TLSErrors.clear() }
    }

    deinit {
        EVP_MD_CTX_free(context)
        EVP_MD_free(algorithm)
    }

    /// Nil if OpenSSL cannot compute it, for the reasons of `SHA256.hash`.
    package func words(of bytes: Bytes) -> SHA256Words? {
        guard let context, let algorithm else { return nil }
        let code = bytes.span.withUnsafeBufferPointer { bytes in
            EVP_DigestInit_ex(context, algorithm, nil) == 1
                && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
                && EVP_DigestFinal_ex(context, &hash, nil) == 1
        }
        guard code else {
            TLSErrors.clear()
            return nil
        }
        return SHA256Words(hash)
    }
}
