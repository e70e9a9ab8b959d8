import Basics
import COpenSSL

/// The blocks of a PEM text that may contain public keys.
struct PEMBlocks {
    private let text: Bytes

    init(_ text: Bytes) {
        self.text = text
    }

    /// One block: its label and its content in DER.
    struct Block {
        let label: String
        /// Nil if the block cannot be decoded.
        let content: [UInt8]?

        func publicKey() throws(UnusableKey) -> PublicKey {
            guard let content else { throw .value }
            switch label {
            case "PUBLIC KEY": return try JSONWebKey.checkedSize(PublicKey(der: content))
            case "CERTIFICATE": return try JSONWebKey.checkedSize(PublicKey(certificate: content))
            case _ where label.hasSuffix("PRIVATE KEY"): throw .privateKey
            default: throw .keyType
            }
        }
    }

    /// The blocks in order, at most `max`.
    func read(max: Int) -> [Block] {
        text.span.withUnsafeBufferPointer { buffer in
            let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count))
            defer {
                BIO_free(bio)
                ERR_clear_error()
            }
            var blocks: [Block] = []
            while blocks.count < max, let block = Self.next(of: bio) { blocks.append(block) }
            // A text without a complete block is not PEM.
            return blocks.contains { $0.content != nil } ? blocks : []
        }
    }

    /// Nil at the end of the text.
    private static func next(of bio: OpaquePointer?) -> Block? {
        var label: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var content: UnsafeMutablePointer<UInt8>?
        var count = 0
        ERR_clear_error()
        guard PEM_read_bio(bio, &label, &header, &content, &count) == 1, let label, let content
        else {
            // Any other error is the error of a block, behind which the next one is searched.
            let isEnd = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
            return isEnd ? nil : Block(label: "", content: nil)
        }
        defer {
            tributary_openssl_free(label)
            tributary_openssl_free(header)
            tributary_openssl_free(content)
        }
        return Block(
            label: String(cString: label),
            content: Array(UnsafeBufferPointer(start: content, count: count)))
    }
}

extension PublicKey {
    /// The key of a certificate. The certificate's signature and dates are not checked: the
    /// operator's file is trusted.
    fileprivate convenience init?(certificate der: [UInt8]) {
        let certificate = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_X509(nil, &start, buffer.count)
        }
        defer {
            X509_free(certificate)
            ERR_clear_error()
        }
        guard let certificate, let raw = X509_get_pubkey(certificate) else { return nil }
        self.init(taking: raw)
    }
}
