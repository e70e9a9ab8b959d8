/// Why a stream or a connection ends (RFC 9113 7). Codes of extensions have other numbers.
package struct H2Code: Sendable, Hashable {
    package let number: UInt32

    package init(number: UInt32) {
        self.number = number
    }

    package static var noError: H2Code { H2Code(number: 0x0) }
    package static var protocolError: H2Code { H2Code(number: 0x1) }
    package static var internalError: H2Code { H2Code(number: 0x2) }
    package static var streamClosed: H2Code { H2Code(number: 0x5) }
    package static var refusedStream: H2Code { H2Code(number: 0x7) }
    package static var cancel: H2Code { H2Code(number: 0x8) }
    package static var enhanceYourCalm: H2Code { H2Code(number: 0xB) }
    package static var http11Required: H2Code { H2Code(number: 0xD) }
}

extension H2Code: CustomStringConvertible {
    /// The name of RFC 9113 7; the number of an unknown code.
    package var description: String {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL",
            "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ]
        return names.indices.contains(Int(number)) ? names[Int(number)] : "code \(number)"
    }
}
