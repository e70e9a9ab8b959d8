package import Basics

/// The trace that a request belongs to (W3C Trace Context, section 3.2): each backend call gets the
/// same trace id and a parent id of its own.
package struct TraceContext: Sendable, Equatable {
    package let traceHigh: UInt64
    package let traceLow: UInt64
    /// The caller's span; 0 for a trace that begins here.
    package let parentID: UInt64
    /// Whether this trace is recorded, as far as this is known when the request begins; passed on to
    /// the backends.
    package let isSampled: Bool
    /// Whether the trace id is random, as its maker states (W3C Trace Context, level 2, section 3.2.2.5.2); passed on
    /// to the backends.
    package let isRandom: Bool
    /// What tracing systems before this gateway attached.
    package let state: TraceState?

    /// A new trace. Never all zero, which the standard reserves for "invalid".
    ///
    /// - Parameter sampledShare: of new traces, in millionths
    package init(from entropy: Entropy, sampledShare: Int = 0) {
        traceHigh = entropy.next() | 1
        traceLow = entropy.next()
        isSampled = sampledShare > 0 && entropy.below(1_000_000) < sampledShare
        isRandom = true
        parentID = 0
        state = nil
    }

    /// The trace of the caller; nil if there is no `traceparent`, if it is malformed, or if there are
    /// several: then `tracestate` has no meaning either (section 3.3).
    package init?(_ fields: Fields) {
        guard let parent = fields.single(.traceparent) else { return nil }
        self.init(traceparent: parent.bytes.span, state: TraceState(fields))
    }

    /// The trace of a `traceparent` field; nil if it is malformed.
    ///
    /// Of a version above 00 only the first 55 bytes are read: the bytes of version 00, possibly followed
    /// by a dash and more (section 3.2.4).
    package init?(
        traceparent value: Span<UInt8>, state: @autoclosure () -> TraceState? = nil
    ) {
        let dash = UInt8(ascii: "-")
        guard value.count >= 55, let version = Self.hex(value.extracting(0..<2)), version != 0xFF,
            value.count == 55 || version > 0 && value[55] == dash,
            value[2] == dash, value[35] == dash, value[52] == dash,
            let high = Self.hex(value.extracting(3..<19)),
            let low = Self.hex(value.extracting(19..<35)),
            let parent = Self.hex(value.extracting(36..<52)),
            let flags = Self.hex(value.extracting(53..<55)),
            high | low != 0, parent != 0
        else { return nil }
        traceHigh = high
        traceLow = low
        parentID = parent
        isSampled = flags & 1 == 1
        isRandom = flags & 2 == 2
        self.state = state()
    }

    /// The flags that are passed on, with the end of the line; others have no meaning yet.
    fileprivate var flags: StaticString {
        isRandom
            ? isSampled ? "-03\r\n" : "-02\r\n"
            : isSampled ? "-01\r\n" : "-00\r\n"
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

extension TextBuffer {
    /// Appends the header lines that identify an exchange for a backend.
    ///
    /// - Parameter parentID: identifies the call in the trace. Never zero (W3C Trace Context
    ///   3.2.2.4)
    package mutating func append(
        linesOf id: RequestID, _ trace: TraceContext, parentID: UInt64
    ) {
        append(literal: "X-Request-Id: ")
        append(id)
        if let state = trace.state {
            append(literal: "\r\ntracestate: ")
            append(state.text)
        }
        append(literal: "\r\ntraceparent: 00-")
        append(hex: trace.traceHigh)
        append(hex: trace.traceLow)
        append(UInt8(ascii: "-"))
        append(hex: parentID)
        append(literal: trace.flags)
    }
}
