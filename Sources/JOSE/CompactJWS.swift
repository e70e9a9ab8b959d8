package import Basics
import JSONText

/// A JSON Web Signature in compact form (RFC 7515 section 3.1), parsed but not verified.
package struct CompactJWS: Sendable {
    package let header: JOSEHeader
    /// The payload, decoded.
    package let payload: Bytes
    /// What the signature signs: the first two parts with their dot.
    let signed: Bytes
    let signature: [UInt8]

    /// A longer token is rejected unread.
    package static let sizeMax = 8192

    package init(_ text: Bytes) throws(TokenFault) {
        guard text.count <= Self.sizeMax else { throw .malformed(.tooLong) }
        let dots = Self.dots(in: text.span)
        guard dots.count != 4 else { throw .malformed(.encrypted) }
        guard dots.count == 2 else { throw .malformed(.notThreeParts) }
        signed = text[0..<dots[1]]
        header = try JOSEHeader(Bytes(try Self.decode(text[0..<dots[0]], .header)))
        payload = Bytes(try Self.decode(text[(dots[0] + 1)..<dots[1]], .payload))
        signature = try Self.decode(text[(dots[1] + 1)..<text.count], .signature)
    }

    /// The offsets of the dots; five are enough to reject a text.
    private static func dots(in text: Span<UInt8>) -> [Int] {
        var dots: [Int] = []
        dots.reserveCapacity(5)
        for offset in 0..<text.count where text[offset] == UInt8(ascii: ".") {
            dots.append(offset)
            if dots.count == 5 { break }
        }
        return dots
    }

    private static func decode(
        _ text: Bytes, _ part: TokenFault.Part
    ) throws(TokenFault) -> [UInt8] {
        guard let bytes = Base64URL.decode(text.span) else { throw .malformed(.encoding(part)) }
        return bytes
    }
}
