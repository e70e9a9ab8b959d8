package import Basics

/// The segments of an encoded path, between its slashes: `/a//b` has `a`, the empty one and `b`;
/// `/` has one, which is empty. An encoded slash (`%2F`) is not a delimiter.
package struct PathSegments: Sequence, IteratorProtocol, Sendable {
    private let path: Bytes
    /// The offset behind the slash that begins the next segment.
    private var position: Int

    package init(_ path: Bytes) {
        self.path = path
        position = PathSegments.start
    }

    package mutating func next() -> Bytes? {
        guard let range = PathSegments.range(in: path.span, from: position) else { return nil }
        position = range.upperBound + 1
        return path[range]
    }

    /// The segment that begins at an offset of a path; nil behind the end. The next one begins
    /// behind its end and the slash.
    package static func range(in path: Span<UInt8>, from start: Int) -> Range<Int>? {
        guard start <= path.count else { return nil }
        return start..<(path.firstOffset(of: ASCII.slash, from: start) ?? path.count)
    }

    /// Where the first segment of a path begins.
    package static let start = 1
}

/// The parameters of an encoded query in order, delimited by `&`. Empty ones are skipped.
package struct QueryParameters: Sequence, IteratorProtocol, Sendable {
    private let query: Bytes
    private var position = 0

    package init(_ query: Bytes) {
        self.query = query
    }

    package mutating func next() -> QueryParameter? {
        while position < query.count {
            let end = query.span.firstOffset(of: UInt8(ascii: "&"), from: position) ?? query.count
            let item = query[position..<end]
            position = end + 1
            if !item.isEmpty { return QueryParameter(item) }
        }
        return nil
    }
}

/// One `name=value` of a query, both still encoded; the value is empty without a `=`.
package struct QueryParameter: Sendable {
    /// As it was sent, `name=value` or `name`.
    package let text: Bytes
    package let name: Bytes
    package let value: Bytes

    init(_ item: Bytes) {
        text = item
        let equals = item.span.firstOffset(of: UInt8(ascii: "="))
        name = item[0..<(equals ?? item.count)]
        value = equals.map { item[($0 + 1)..<item.count] } ?? Bytes()
    }

    /// The name, decoded; nil if an escape is malformed.
    package var decodedName: Bytes? { name.percentDecoded(plusIsSpace: true) }

    /// The value, decoded; nil if an escape is malformed.
    package var decodedValue: Bytes? { value.percentDecoded(plusIsSpace: true) }
}
