import COpenSSL

/// SHA-1, by OpenSSL. Not for security: the handshake of WebSocket uses it (RFC 6455 4.2.2).
package enum SHA1 {
    /// The hash of the bytes; nil if OpenSSL cannot compute it, for lack of memory or because the
    /// system's policy forbids the algorithm.
    package static func hash(_ bytes: [UInt8]) -> [UInt8]? {
        var hash = [UInt8](repeating: 0, count: 20)
        let code = EVP_Digest(bytes, bytes.count, &hash, nil, EVP_sha1(), nil)
        if code != 1 { TLSErrors.clear() }
        return code == 1 ? hash : nil
    }
}
