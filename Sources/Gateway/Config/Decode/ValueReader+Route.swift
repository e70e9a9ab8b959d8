import YAMLReader

/// Routes of endpoints.
extension ValueReader where Value == Config.Route {
    /// `GET /products/{id}`
    static var route: ValueReader {
        .scalar(.text(format: .route), expected: "must be a route such as GET /products/{id}") {
            scalar throws(Refusal) in
            try Config.Route(parsing: scalar.text)
        }
    }
}

extension Config.Route {
    package init(parsing text: String) throws(Refusal) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2 else {
            throw Refusal("must be a method, one space and a path, such as GET /products/{id}")
        }
        let methods = Config.Method.allCases.map(\.rawValue)
        guard let method = Config.Method(rawValue: String(words[0])) else {
            throw Refusal(
                "has the unknown method '\(words[0])'; the methods are \(fixed: methods.joined(with: "and"))"
                    + .suggestion(for: words[0], among: methods))
        }
        let (path, suffix) = try Self.suffix(of: words[1])
        self.init(
            method: method, path: String(words[1]), segments: try Self.segments(of: path),
            suffix: suffix)
    }

    /// Splits a suffix such as `.json` from the parameter at the end of a path.
    private static func suffix(
        of path: Substring
    ) throws(Refusal) -> (path: Substring, suffix: String?) {
        guard let brace = path.lastIndex(of: "}"), path[brace...].hasPrefix("}."),
            !path[brace...].contains(where: { "/?#*".contains($0) })
        else { return (path, nil) }
        let suffix = path[path.index(after: brace)...]
        guard suffix.dropFirst().utf8.allSatisfy(isUnreserved), suffix.count > 1 else {
            throw Refusal(
                "has the suffix '\(suffix)'; behind the dot it needs letters, digits, '.', '-', '_' or '~'"
            )
        }
        return (path[...brace], String(suffix))
    }

    /// RFC 3986 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }

    private static func segments(of path: Substring) throws(Refusal) -> [Segment] {
        guard path.hasPrefix("/") else { throw Refusal("must have a path that begins with a '/'") }
        guard !path.contains("?") else {
            throw Refusal("must have no query (?...); query parameters are declared under 'params'")
        }
        guard !path.contains("#") else {
            throw Refusal("must not have a fragment (#...); write %23 for a literal #")
        }
        guard path != "/" else { return [] }
        let pieces = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        try checkForeignSpelling(pieces)
        var segments: [Segment] = []
        for (index, piece) in pieces.enumerated() {
            let isLast = index == pieces.count - 1
            guard !piece.isEmpty || isLast else {
                throw Refusal("must not have an empty segment (//)")
            }
            guard piece != "*" || isLast else {
                throw Refusal("must have its '*' as the last segment")
            }
            segments.append(piece == "*" ? .rest : try segment(piece))
        }
        return try withUniqueNames(segments)
    }

    /// Refuses parameters and wildcards in the notation of other routers: `:id`, `*`, `*path`,
    /// `{path...}`.
    ///
    /// As literal text, such a route would match no request.
    private static func checkForeignSpelling(_ pieces: [Substring]) throws(Refusal) {
        if pieces.contains(where: { $0.hasPrefix(":") && $0.count > 1 }) {
            let spelling = pieces.map { piece in
                piece.hasPrefix(":") && piece.count > 1 ? "{\(piece.dropFirst())}" : "\(piece)"
            }
            throw Refusal("must have its parameters in braces: /\(spelling.joined(separator: "/"))")
        }
        let isForeign = { (piece: Substring) in
            piece.contains("*") && piece != "*" || piece.hasSuffix("...}")
        }
        if pieces.contains(where: isForeign) {
            let spelling = pieces.map { isForeign($0) ? "{name}" : "\($0)" }
            throw Refusal(
                "must not have a wildcard inside a segment; write a parameter for every segment, as in"
                    + " /\(spelling.joined(separator: "/")), * as the last segment of a route with"
                    + " 'proxy', or %2A for a literal *")
        }
    }

    private static func segment(_ piece: Substring) throws(Refusal) -> Segment {
        if piece.hasPrefix("{"), piece.hasSuffix("}") {
            let name = String(piece.dropFirst().dropLast())
            guard Config.Param.isName(name) else {
                throw Refusal(
                    "has a parameter with the bad name '\(name)' (letters, digits, _ and -)")
            }
            return .parameter(name)
        }
        guard !piece.contains(where: { "{}".contains($0) }) else {
            throw Refusal(
                "must have a parameter as a whole segment, or before a suffix at the end, such as"
                    + " /{id}/ or /{id}.json, not '\(piece)'")
        }
        guard let literal = piece.percentDecoded else {
            throw Refusal("has an invalid escape in '\(piece)' (%XX, UTF-8)")
        }
        guard literal != ".", literal != ".." else {
            throw Refusal("must not have the segment '\(piece)'; no client can request it")
        }
        return .literal(literal)
    }

    private static func withUniqueNames(_ segments: [Segment]) throws(Refusal) -> [Segment] {
        var names: [String] = []
        for case .parameter(let name) in segments {
            guard !names.contains(name) else { throw Refusal("has the parameter '\(name)' twice") }
            names.append(name)
        }
        return segments
    }
}

extension Config.Param {
    /// A name that `{name}` can refer to.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension Substring {
    /// `%41` is `A`; nil for an incomplete escape, a zero byte or invalid UTF-8.
    fileprivate var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16), value != 0
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
