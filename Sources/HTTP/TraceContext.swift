package import Basics

/// The trace that a request belongs to (W3C Trace Context, section 3.2): each backend call gets the
/// same trace id and a parent id of its own.
package struct TraceContext: Sendable, Equatable {
    package let traceHigh: UInt64
    package let traceLow: UInt64
    /// Whether the caller records this trace; passed on to the backends unchanged.
    package let isSampled: Bool

    /// A new trace. Never all zero, which the standard reserves for "invalid".
    package init(from entropy: Entropy) {
        traceHigh = entropy.next() | 1
        traceLow = entropy.next()
        isSampled = false
    }

    /// The trace of a `traceparent` field of version 00; nil if it is malformed.
    package init?(traceparent value: Span<UInt8>) {
        let dash = UInt8(ascii: "-")
        guard value.count == 55, value[0] == UInt8(ascii: "0"), value[1] == UInt8(ascii: "0"),
            value[2] == dash, value[35] == dash, value[52] == dash,
            let high = Self.hex(value.extracting(3..<19)),
            let low = Self.hex(value.extracting(19..<35)),
            let parent = Self.hex(value.extracting(36..<52)),
            let flags = Self.hex(value.extracting(53..<55)),
            high | low != 0, parent != 0
        else { return nil }
        traceHigh = high
        traceLow = low
        isSampled = flags & 1 == 1
    }

    /// Lower-case digits only, as the standard requires.
    private static func hex(_ digits: Span<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for index in digits.indices {
            let nibble: UInt8
            switch digits[index] {
            case let digit where digit &- UInt8(ascii: "0") < 10:
                nibble = digit &- UInt8(ascii: "0")
            case let digit where digit &- UInt8(ascii: "a") < 6:
                nibble = digit &- UInt8(ascii: "a") + 10
            default: return nil
            }
            value = value << 4 | UInt64(nibble)
        }
        return value
    }
}

extension [UInt8] {
    /// Appends a `traceparent` value up to the parent id: version and trace id.
    mutating func append(beginOf trace: TraceContext) {
        append(literal: "00-")
        append(hex: trace.traceHigh)
        append(hex: trace.traceLow)
        append(UInt8(ascii: "-"))
    }
}
