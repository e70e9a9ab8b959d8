import Basics
import JSONText

/// A segment of a call's path that values could make empty, `.` or `..`: the backend would take the
/// request for one to another path (RFC 3986, section 5.2.4).
///
/// The rule is about the finished segment, text and values together: in `/{a}.{b}/`, two empty values
/// leave `.`. A percent-encoded dot counts as a dot, an encoded slash does not end a segment.
///
/// A class, so that a request that looks at one counts one reference.
final class RiskySegment {
    let pieces: [URLTemplate.Piece]

    /// The value that is blamed: an earlier answer, if there is one, else the first of the client's.
    let blamed: URLTemplate.Value

    /// Whether an earlier answer is part of it, so that it is known only when the call is made.
    let usesAnswer: Bool

    /// Nil where the text of the segment, or its lack of values, rules a refusal out.
    init?(_ pieces: [URLTemplate.Piece]) {
        let values = pieces.compactMap { piece -> URLTemplate.Value? in
            if case .value(let value, _) = piece { value } else { nil }
        }
        let answer = values.first { if case .call = $0.source { true } else { false } }
        guard let blamed = answer ?? values.first else { return nil }
        for case .literal(let text) in pieces where text.dots == nil { return nil }
        self.pieces = pieces
        self.blamed = blamed
        usesAnswer = answer != nil
    }

    /// The parameter that is the whole segment, if it is one.
    var param: Int? {
        guard pieces.count == 1, case .param(let index) = blamed.source else { return nil }
        return index
    }
}

extension URLTemplate {
    /// The risky segments of a path of such pieces; a `?` ends the path.
    static func riskySegments(of pieces: [Piece]) -> [RiskySegment] {
        var segments: [RiskySegment] = []
        var current: [Piece] = []
        for piece in pieces {
            switch piece {
            case .value(_, .pathSegment): current.append(piece)
            case .value: return segments
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
    /// A segment that the client's values alone complete, and the call whose path it is in.
    struct ClientSegment {
        let call: CallPlan
        let segment: RiskySegment
    }

    /// What `checkSegments` looks at. A parameter that is a whole segment of several calls is looked
    /// at once.
    static func clientSegments(of calls: [CallPlan]) -> [ClientSegment] {
        var known: Set<Int> = []
        var segments: [ClientSegment] = []
        for call in calls {
            for segment in call.target.riskySegments where !segment.usesAnswer {
                // Where the call is made under a condition, another one may be made without.
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
    /// How many dots a text of dots only has, encoded ones among them; nil for any other text.
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
