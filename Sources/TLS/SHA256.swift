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
        if code != 1 { ERR_clear_error() }
        return code == 1 ? hash : nil
    }
}
