package import Basics
package import HTTP
package import Patterns

/// The value of one parameter in a request.
package enum ParamReading {
    case absent
    /// Decoded and valid.
    case value(Bytes)
    case refused(Reason)
}

extension ParamPlan {
    /// Reads the parameter from a request and checks it.
    ///
    /// - Parameter work: the remaining work limit for the request's patterns
    package func read(_ head: RequestHead, _ work: inout PatternWork) -> ParamReading {
        let found =
            switch source {
            case .path(let segment, let suffixCount):
                head.target.reading(ofSegment: segment, suffixCount)
            case .query(let name): head.target.reading(ofQuery: name)
            case .header(let name): head.fields.reading(of: name)
            }
        switch found {
        case .absent: return isRequired && defaultValue == nil ? .refused(.required) : .absent
        case .refused: return found
        case .value(let value): return rule.refusal(of: value, &work).map { .refused($0) } ?? found
        }
    }
}

extension Target {
    /// The segment without its suffix, decoded; in a path a `+` is not a space.
    fileprivate func reading(ofSegment index: Int, _ suffixCount: Int) -> ParamReading {
        guard let segment = path.segment(at: index) else { return .absent }
        guard let decoded = segment.percentDecoded() else { return .refused(.brokenEscape) }
        let value =
            suffixCount == 0 ? decoded : decoded[0..<max(0, decoded.count - suffixCount)]
        return value.isDotSegment ? .refused(.dotSegment) : .value(value)
    }

    /// The decoded value of a query parameter; nil where it is absent, repeated, or has a broken
    /// escape.
    func value(ofQuery name: Bytes) -> Bytes? {
        if case .value(let value) = reading(ofQuery: name) { value } else { nil }
    }

    /// The decoded values of a query parameter that may be repeated, without those with a broken escape.
    func values(ofQuery name: Bytes) -> [Bytes] {
        guard let query else { return [] }
        return QueryParameters(query).filter { $0.isNamed(name) }.compactMap(\.decodedValue)
    }

    /// Whether one of its values has a broken escape.
    func hasBrokenValue(ofQuery name: Bytes) -> Bool {
        guard let query else { return false }
        return QueryParameters(query).contains { $0.isNamed(name) && $0.decodedValue == nil }
    }

    /// Why a query parameter has no value although the query has it; nil for any other.
    func refusal(ofQuery name: Bytes) -> Reason? {
        if case .refused(let reason) = reading(ofQuery: name) { reason } else { nil }
    }

    /// Whether the query has a parameter of that name, with any value.
    func hasQuery(_ name: Bytes) -> Bool {
        if case .absent = reading(ofQuery: name) { false } else { true }
    }

    fileprivate func reading(ofQuery name: Bytes) -> ParamReading {
        guard let query else { return .absent }
        var found: QueryParameter?
        for parameter in QueryParameters(query) where parameter.isNamed(name) {
            if found != nil { return .refused(.repeated) }
            found = parameter
        }
        guard let found else { return .absent }
        return found.decodedValue.map { .value($0) } ?? .refused(.brokenEscape)
    }
}

extension Fields {
    fileprivate func reading(of name: FieldName) -> ParamReading {
        guard contains(name) else { return .absent }
        let values = all(name)
        return values.count == 1 ? .value(values[0].bytes) : .refused(.repeated)
    }
}

extension QueryParameter {
    /// Compares decoded names.
    package func isNamed(_ wanted: Bytes) -> Bool {
        // One to three encoded bytes represent a byte: for most names the length decides.
        (wanted.count...(3 * wanted.count)).contains(name.count) && decodedName == wanted
    }
}

extension Bytes {
    /// The segment of this path with an index, still encoded; nil if the path has fewer.
    fileprivate func segment(at index: Int) -> Bytes? {
        var range = PathSegments.range(in: span, from: PathSegments.start)
        for _ in 0..<index {
            range = range.flatMap { PathSegments.range(in: span, from: $0.upperBound + 1) }
        }
        return range.map { self[$0] }
    }

    /// Whether it is `.` or `..`, which URL parsers resolve to another path.
    fileprivate var isDotSegment: Bool {
        let dot = UInt8(ascii: ".")
        return switch count {
        case 1: self[0] == dot
        case 2: self[0] == dot && self[1] == dot
        default: false
        }
    }
}
