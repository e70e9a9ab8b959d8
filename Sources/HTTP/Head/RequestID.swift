package import Basics

/// The id of a request: the client's if it is valid, else a random one.
package enum RequestID: Sendable {
    /// 128 random bits, written as 32 hexadecimal digits.
    case own(UInt64, UInt64)
    /// The client's, checked.
    case client(Bytes)

    /// A new random id.
    package init(from entropy: Entropy) {
        self = .own(entropy.next(), entropy.next())
    }

    /// The client's id, if it matches `[A-Za-z0-9._~:+/=-]{1,128}`.
    package init?(client value: Span<UInt8>) {
        guard (1...128).contains(value.count) else { return nil }
        for index in value.indices where !Self.isSane(value[index]) { return nil }
        self = .client(Bytes(copying: value))
    }

    private static func isSane(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "+"), UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "="),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension RequestID: CustomStringConvertible {
    package var description: String {
        var text: [UInt8] = []
        text.append(self)
        return String(Bytes(text))
    }
}

extension [UInt8] {
    /// Appends the text of a request id.
    package mutating func append(_ id: RequestID) {
        switch id {
        case .own(let high, let low):
            append(hex: high)
            append(hex: low)
        case .client(let bytes): append(bytes)
        }
    }

}

extension TextBuffer {
    /// Appends the text of a request id.
    package mutating func append(_ id: RequestID) {
        switch id {
        case .own(let high, let low):
            append(hex: high)
            append(hex: low)
        case .client(let bytes): append(bytes)
        }
    }
}
