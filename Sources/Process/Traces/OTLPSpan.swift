import Basics
import HTTP

/// One span of OTLP.
struct OTLPSpan {
    /// The numbers of `Span.SpanKind`.
    enum Kind: Int {
        case `internal` = 1
        case server = 2
        case client = 3
    }

    let trace: TraceContext
    let id: UInt64
    /// 0 for the first span of a trace.
    let parentID: UInt64
    let kind: Kind
    let name: String
    /// In nanoseconds since 1970.
    let began: Int64
    let ended: Int64
    /// Its attribute `error.type` has the reason.
    var isError = false
    /// Why it failed, in words.
    var problem: Bytes?

    var attributes: [OTLPAttribute] = []
    var events: [OTLPEvent] = []

    /// Bits of `flags` above the bits of W3C Trace Context: whether the next bit is set, and whether the
    /// parent is in another process.
    private static let knowsRemote = 0x100
    private static let isRemote = 0x200

    var flags: Int {
        let isRemote = kind == .server && parentID != 0
        return Self.knowsRemote | (isRemote ? Self.isRemote : 0) | (trace.isSampled ? 1 : 0)
            | (trace.isRandom ? 2 : 0)
    }

    /// Appends the span; the closures append entries to its lists.
    func append(
        to spans: inout [OTLPSpan], attributes: (inout [OTLPAttribute]) -> Void,
        events: (inout [OTLPEvent]) -> Void = { _ in }
    ) {
        var span = self
        attributes(&span.attributes)
        events(&span.events)
        spans.append(span)
    }
}
