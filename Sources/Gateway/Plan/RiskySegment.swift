import Basics
import JSONText

/// A segment of a call's path that values could make empty, `.` or `..`: the backend would resolve
/// the request to another path (RFC 3986 section 5.2.4).
///
/// The rule applies to the finished segment, text and values together: in `/{a}.{b}/`, two empty
/// values leave `.`. A percent-encoded dot counts as a dot; an encoded slash does not end a
/// segment.
///
/// A class, so that a use of it retains one reference.
final class RiskySegment {
    let pieces: [CompiledTemplate.Piece]

    /// The reference that a refusal names: another call's if there is one, else the client's first.
    let reported: CompiledTemplate.Reference

    /// Whether it uses another call's response, so that it is known only when the call starts.
    let usesResponse: Bool

    /// Nil where the segment can never be refused, because of its text or because it has no
    /// reference.
    init?(_ pieces: [CompiledTemplate.Piece]) {
        let references = pieces.compactMap(\.reference)
        let callReference = references.first { if case .call = $0.source { true } else { false } }
        guard let reported = callReference ?? references.first else { return nil }
        for case .literal(let text) in pieces where text.dots == nil { return nil }
        self.pieces = pieces
        self.reported = reported
        usesResponse = callReference != nil
    }

    /// The parameter, where a parameter is the whole segment.
    var param: Int? {
        guard pieces.count == 1, case .param(let index) = reported.source else { return nil }
        return index
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
    /// calls is checked once. Those of a call whose condition uses a response are checked when it
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
    /// The number of dots in a text that consists of dots, plain or encoded; nil for any other
    /// text.
    var dots: Int? {
        var count = 0
        var index = 0
        while index < self.count {
            if self[index] == UInt8(ascii: ".") {
                index += 1
            } else if index + 2 < self.count, self[index] == UInt8(ascii: "%"),
                self[index + 1] == UInt8(ascii: "2"), self[index + 2] | 0x20 == UInt8(ascii: "e")
            {
                index += 3
            } else {
                return nil
            }
            count += 1
        }
        return count
    }
}
