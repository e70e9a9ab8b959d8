import Basics
import COpenSSL

/// A secret that signer and verifier share (HMAC), overwritten when it is released.
final class SharedSecret {
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    init(_ secret: Bytes) {
        bytes = .allocate(capacity: secret.count)
        secret.span.withUnsafeBufferPointer { _ = bytes.initialize(from: $0) }
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    var count: Int { bytes.count }

    /// Whether the signature is right, compared in constant time.
    func verify(
        _ signature: [UInt8], of message: Span<UInt8>, _ algorithm: SignatureAlgorithm
    ) -> Bool {
        guard signature.count == algorithm.hashSize else { return false }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(EVP_MAX_MD_SIZE)) {
            expected in
            var count: CUnsignedInt = 0
            let result = message.withUnsafeBufferPointer { message in
                HMAC(
                    algorithm.digest, bytes.baseAddress, CInt(clamping: bytes.count),
                    message.baseAddress, message.count, expected.baseAddress, &count)
            }
            guard result != nil, Int(count) == signature.count else {
                ERR_clear_error()
                return false
            }
            return CRYPTO_memcmp(expected.baseAddress, signature, signature.count) == 0
        }
    }
}
