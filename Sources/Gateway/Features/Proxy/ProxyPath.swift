import Basics
package import HTTP

/// The target at the backend: the client's path, or one that is built from its segments, byte for
/// byte, and the client's query.
package struct ProxyPath {
    private enum Piece {
        case literal(Bytes)
        /// A segment of the client's path, by its index, without a suffix of so many bytes.
        case segment(Int, suffixCount: Int)
        /// Everything from this segment on.
        case rest(from: Int)
    }

    /// Nil where the client's path is kept.
    private let pieces: [Piece]?
    private let used: UsedQueryNames
    /// As the configuration spells it; nil where the client's path is kept.
    package let text: String?
    /// Whether a variable or a secret's file is part of it.
    let isConfidential: Bool

    init(
        _ path: Located<Config.ProxyPath>?, of route: Config.Route, using used: UsedQueryNames
    ) {
        self.used = used
        text = path?.quoted(\.text)
        isConfidential = path?.written != nil
        pieces = path?.value.pieces.compactMap { piece in
            switch piece {
            case .literal(let text): return .literal(Bytes(text))
            case .rest: return .rest(from: max(0, route.segments.count - 1))
            case .parameter(let name):
                return route.segments.firstIndex(of: .parameter(name)).map {
                    .segment($0, suffixCount: route.suffixCount(ofSegment: $0))
                }
            }
        }
    }

    /// The target for a client's request; nil for a path that a backend could read as another one.
    package func target(of target: Target, _ query: Config.Forward.Query?) -> Target? {
        let path = target.path
        guard !path.isHarmfulPath else { return nil }
        if pieces == nil, target.form == .origin, used.isEmpty || target.query == nil {
            if case nil = query { return target }
            if case .all? = query { return target }
        }
        var text: [UInt8] = []
        text.reserveCapacity(target.text.count + 32)
        if let pieces { append(pieces, path, to: &text) } else { text.append(path) }
        // What is put together may be harmful where its parts are not.
        guard pieces == nil || !Bytes(text).isHarmfulPath else { return nil }
        target.query.map { append($0, query, to: &text) }
        return Target(Bytes(text))
    }

    private func append(_ pieces: [Piece], _ path: Bytes, to text: inout [UInt8]) {
        for piece in pieces {
            switch piece {
            case .literal(let bytes): text.append(bytes)
            case .segment(let index, let suffixCount):
                let start = path.startOfSegment(index)
                let end = path.span.firstOffset(of: UInt8(ascii: "/"), from: start) ?? path.count
                text.append(path[start..<end].removing(suffix: suffixCount))
            case .rest(let index): text.append(path[path.startOfSegment(index)..<path.count])
            }
        }
    }

    /// Byte for byte, an empty query too, unless the backend could take a parameter for one that the
    /// gateway uses. A list of names keeps the order of the parameters.
    private func append(
        _ query: Bytes, _ rule: Config.Forward.Query?, to text: inout [UInt8]
    ) {
        guard case .names(let names)? = rule else { return appendAll(query, to: &text) }
        append(
            QueryParameters(query).compactMap { parameter in
                // For servers that split at semicolons, what follows one is another parameter.
                names.contains { parameter.isNamed(Bytes($0.value)) }
                    ? parameter.text.escapingSemicolons : nil
            }, to: &text)
    }

    private func appendAll(_ query: Bytes, to text: inout [UInt8]) {
        guard used.isEmpty || QueryParameters(query).allSatisfy({ used.passed($0) == $0.text })
        else { return append(QueryParameters(query).compactMap(used.passed), to: &text) }
        text.append(UInt8(ascii: "?"))
        text.append(query)
    }

    private func append(_ parameters: [Bytes], to text: inout [UInt8]) {
        var separator = UInt8(ascii: "?")
        for parameter in parameters {
            text.append(separator)
            text.append(parameter)
            separator = UInt8(ascii: "&")
        }
    }
}

extension Bytes {
    /// The offset of a segment of a path; the end if there are fewer.
    fileprivate func startOfSegment(_ index: Int) -> Int {
        var position = 1
        for _ in 0..<index {
            guard let slash = span.firstOffset(of: UInt8(ascii: "/"), from: position) else {
                return count
            }
            position = slash + 1
        }
        return Swift.min(position, count)
    }

    /// Whether some servers leave the path's own folder.
    fileprivate var isHarmfulPath: Bool {
        // Most paths have no byte that could make them harmful.
        !isPlainPath && PathReading(of: span) == .harmful
    }
}
