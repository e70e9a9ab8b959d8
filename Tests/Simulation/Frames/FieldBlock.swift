import CNGHTTP2
import Rehearsal

/// A field of a head: names of HTTP/2 are in lower case, pseudo fields begin with a colon.
typealias PeerField = (name: String, value: String)

extension PeerMessage {
    /// A head of HTTP/2 as one of HTTP/1.1, which the checkers read; nil if it is not valid there.
    init?(_ startLine: String, _ fields: [PeerField], body: [UInt8]) {
        let lines =
            [startLine]
            + fields.filter { !$0.name.hasPrefix(":") }.map { "\($0.name): \($0.value)" }
        let text = (lines + ["", ""]).joined(separator: "\r\n")
        guard case .message(let head) = PeerMessage.readHead(Array(text.utf8)) else { return nil }
        self = head.withBody(body)
    }
}

extension [PeerField] {
    /// The first name that a head must not have behind its pseudo fields (RFC 9113 8.2 and 8.3).
    var forbiddenName: String? {
        map(\.name).first {
            $0.hasPrefix(":") || $0 != $0.lowercased() || Self.ofConnection.contains($0)
        }
    }

    private static var ofConnection: [String] {
        ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]
    }
}

/// Writes header blocks: literals without Huffman codes and without a table (RFC 7541 6.2.2).
enum FieldBlock {
    static func written(_ fields: [PeerField]) -> [UInt8] {
        fields.flatMap { [0] + string($0.name) + string($0.value) }
    }

    private static func string(_ text: String) -> [UInt8] {
        let text = Array(text.utf8)
        return integer(text.count) + text
    }

    /// With a prefix of seven bits (RFC 7541 5.1).
    private static func integer(_ value: Int) -> [UInt8] {
        guard value >= 127 else { return [UInt8(value)] }
        var bytes: [UInt8] = [127]
        var rest = value - 127
        while rest >= 128 {
            bytes.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return bytes + [UInt8(rest)]
    }
}

/// Reads header blocks with the tables and the Huffman codes that the gateway may use: nghttp2's decoder,
/// and nothing else of it.
@safe final class FieldReader {
    private var inflater: OpaquePointer?

    init() { unsafe nghttp2_hd_inflate_new(&inflater) }

    /// The gateway has acknowledged SETTINGS_HEADER_TABLE_SIZE, in bytes: its next block states the size
    /// that it uses (RFC 7541 4.2).
    func changeTable(to bytes: Int) {
        unsafe nghttp2_hd_inflate_change_table_size(inflater, bytes)
    }

    deinit { unsafe nghttp2_hd_inflate_del(inflater) }

    static let defaultTableBytes = 4096

    /// The fields of a complete block; nil if it cannot be decoded.
    func fields(of block: [UInt8]) -> [PeerField]? {
        var fields: [PeerField] = []
        let isDecoded = unsafe block.withUnsafeBufferPointer { bytes in
            var used = 0
            while true {
                var field = unsafe nghttp2_nv()
                var flags: Int32 = 0
                let count = unsafe nghttp2_hd_inflate_hd2(
                    inflater, &field, &flags, bytes.baseAddress.map { unsafe $0 + used },
                    bytes.count - used, 1)
                guard count >= 0 else { return false }
                used += count
                if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                    unsafe fields.append(
                        (
                            Self.text(field.name, field.namelen),
                            Self.text(field.value, field.valuelen)
                        ))
                }
                if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
                if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) == 0, used == bytes.count {
                    break
                }
            }
            unsafe nghttp2_hd_inflate_end_headers(inflater)
            return true
        }
        return isDecoded ? fields : nil
    }

    private static func text(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int) -> String {
        unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
