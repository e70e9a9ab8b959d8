import Basics
import HTTP
import JSONText

/// A segment of a call's path that has values: they could make it empty, or harmful as `PathReading`
/// defines it, so that a backend would resolve the request to another path (RFC 3986 section 5.2.4).
///
/// The rule applies to the finished segment, text and values together: in `/{a}.{b}/`, two empty
/// values leave `.`.
///
/// A class, so that a use of it retains one reference.
final class RiskySegment {
    let pieces: [CompiledTemplate.Piece]

    /// The reference that a refusal names: another call's if there is one, else the client's first.
    let reported: CompiledTemplate.Reference

    /// Whether it uses another call's response, or an element of a list, so that it is known only when the
    /// call starts.
    let usesResponse: Bool

    /// Whether it has text beside the values.
    let hasText: Bool

    /// Whether only values can make it harmful.
    let isTextPlain: Bool

    /// The parameter, where a single value of one is the whole segment.
    let param: Int?

    /// Nil where the segment has no reference.
    init?(_ pieces: [CompiledTemplate.Piece]) {
        let references = pieces.compactMap(\.reference)
        let callReference = references.first { reference in
            switch reference.source {
            case .call, .element: true
            default: false
            }
        }
        guard let reported = callReference ?? references.first else { return nil }
        let texts = pieces.compactMap { if case .literal(let text) = $0 { text } else { nil } }
        hasText = texts.contains { !$0.isEmpty }
        isTextPlain = texts.allSatisfy(\.isPlainPath)
        self.pieces = pieces
        self.reported = reported
        usesResponse = callReference != nil
        if pieces.count == 1, reported.separator == nil, case .param(let index) = reported.source {
            param = index
        } else {
            param = nil
        }
    }
}

extension CompiledTemplate {
    /// The risky segments of a path; a `?` ends the path.
    static func riskySegments(of pieces: [Piece]) -> [RiskySegment] {
        var segments: [RiskySegment] = []
        var current: [Piece] = []
        for piece in pieces {
            switch piece {
            case .reference(_, .pathSegment): current.append(piece)
            case .reference: return segments
            case .literal(let text):
                let path = text.array.prefix { $0 != UInt8(ascii: "?") }
                let parts = path.split(
                    separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                for (index, part) in parts.enumerated() {
                    if index > 0 {
                        if let segment = RiskySegment(current) { segments.append(segment) }
                        current = []
                    }
                    if !part.isEmpty { current.append(.literal(Bytes(Array(part)))) }
                }
                guard path.count == text.count else {
                    if let segment = RiskySegment(current) { segments.append(segment) }
                    return segments
                }
            }
        }
        if let segment = RiskySegment(current) { segments.append(segment) }
        return segments
    }
}

extension EndpointPlan {
    /// A risky segment that depends on the client's values only, and the call whose path it is in.
    struct ClientSegment {
        let call: CallPlan
        let segment: RiskySegment
    }

    /// The segments that `checkSegments` checks. A parameter that is a whole segment of several
    /// calls is checked once. Segments of a call whose condition uses a response are checked when it
    /// starts: the request is valid if the call is not made.
    static func clientSegments(of calls: [CallPlan]) -> [ClientSegment] {
        var known: Set<Int> = []
        var segments: [ClientSegment] = []
        for call in calls where call.conditionCalls.isEmpty {
            for segment in call.target.riskySegments where !segment.usesResponse {
                // A conditional call may be disabled while another one uses the same parameter.
                if call.condition == nil, let param = segment.param {
                    guard known.insert(param).inserted else { continue }
                }
                segments.append(ClientSegment(call: call, segment: segment))
            }
        }
        return segments
    }
}

extension Bytes {
    /// Whether it has no byte that could make a path harmful.
    var isPlainPath: Bool { span.first(notIn: .plainPath, from: 0) == count }
}
