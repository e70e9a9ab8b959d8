import Basics
import HTTP

/// One span of OTLP, except for its attributes and events.
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

    /// Bits of `flags` above those of W3C Trace Context: whether the next bit is set, and whether the
    /// parent is in another process.
    private static let knowsRemote = 0x100
    private static let isRemote = 0x200

    /// Appends the span; the closures write entries of its lists.
    func append(
        to json: inout [UInt8], attributes: (inout [UInt8]) -> Void,
        events: (inout [UInt8]) -> Void = { _ in }
    ) {
        json.append(entry: { span in
            span.append(member: "traceId", id: trace.traceHigh, trace.traceLow)
            span.append(member: "spanId", id: id)
            if let state = trace.state {
                span.append(member: "traceState", String(state.text))
            }
            if parentID != 0 { span.append(member: "parentSpanId", id: parentID) }
            let isRemote = kind == .server && parentID != 0
            span.append(
                member: "flags",
                Self.knowsRemote | (isRemote ? Self.isRemote : 0) | (trace.isSampled ? 1 : 0)
                    | (trace.isRandom ? 2 : 0))
            span.append(member: "name", name)
            span.append(member: "kind", kind.rawValue)
            span.append(member: "startTimeUnixNano", time: began)
            span.append(member: "endTimeUnixNano", time: max(began, ended))
            span.append(list: "attributes", attributes)
            span.append(list: "events", events)
            if isError { appendStatus(to: &span) }
        })
    }

    private func appendStatus(to span: inout [UInt8]) {
        span.append(literal: ",\"status\":{\"code\":2")
        if let problem { span.append(member: "message", String(problem)) }
        span.append(literal: "}")
    }
}
