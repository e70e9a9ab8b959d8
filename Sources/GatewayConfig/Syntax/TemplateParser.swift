import Basics
import JSONText

/// Why a text is no template, and where: characters (code points) from its start.
struct TemplateError: Error, Equatable {
    let offset: Int
    let text: String
}

extension TemplateText {
    /// Reads a template; what is in braces must be a reference.
    init(parsing text: String) throws(TemplateError) {
        var parser = TemplateParser(text)
        try parser.run()
        self.init(text: text, segments: parser.segments)
    }
}

/// Splits a text at its braces, left to right.
private struct TemplateParser {
    private(set) var segments: [TemplateText.Segment] = []
    private let scalars: [Unicode.Scalar]
    private var at = 0
    private var literal = String.UnicodeScalarView()

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    mutating func run() throws(TemplateError) {
        while at < scalars.count {
            let isDoubled = at + 1 < scalars.count && scalars[at + 1] == scalars[at]
            switch scalars[at] {
            case "{" where isDoubled, "}" where isDoubled:
                literal.append(scalars[at])
                at += 2
            case "{":
                endLiteral()
                segments.append(.reference(try reference()))
            case "}":
                throw TemplateError(
                    offset: at, text: "this } closes nothing; write }} for the sign")
            case let plain:
                literal.append(plain)
                at += 1
            }
        }
        endLiteral()
    }

    private mutating func endLiteral() {
        guard !literal.isEmpty else { return }
        segments.append(.literal(String(literal)))
        literal = .init()
    }

    private mutating func reference() throws(TemplateError) -> TemplateText.Reference {
        let open = at
        guard let close = scalars[open...].firstIndex(of: "}") else {
            throw TemplateError(offset: open, text: "this { is never closed; write {{ for the sign")
        }
        at = close + 1
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[(open + 1)..<close])
        let isOptional = text.last == "?"
        let name = isOptional ? String(text.dropLast()) : String(text)
        do {
            return TemplateText.Reference(
                text: String(text), offset: open + 1, isOptional: isOptional,
                source: try .init(reading: name))
        } catch {
            throw TemplateError(offset: open + 1, text: "{\(String(text))}: \(error.words)")
        }
    }
}

private struct ReferenceError: Error {
    let words: String
}

extension TemplateText.Source {
    fileprivate init(reading text: String) throws(ReferenceError) {
        guard !text.contains(where: \.isWhitespace) else {
            throw ReferenceError(
                words: "a reference has no spaces; write {{ and }} for the signs themselves")
        }
        let header = "request.header."
        if text.hasPrefix(header) {
            let name = String(text.dropFirst(header.count))
            guard HeaderSyntax.isName(name) else {
                throw ReferenceError(words: "'\(name)' is no name of a header")
            }
            self = .requestHeader(name)
            return
        }
        let query = "request.query."
        if text.hasPrefix(query) {
            let name = String(text.dropFirst(query.count))
            guard !name.isEmpty else {
                throw ReferenceError(words: "the name of the query parameter is missing")
            }
            self = .requestQuery(name)
            return
        }
        try self.init(path: try Self.steps(of: text))
    }

    private init(path: [TemplateText.Step]) throws(ReferenceError) {
        guard case .key(let root)? = path.first else {
            throw ReferenceError(words: "a reference starts with a name")
        }
        let rest = Array(path.dropFirst())
        if root == "request" {
            if rest == [.key("client")] {
                self = .requestClient
                return
            }
            guard rest.first == .key("body") else {
                throw ReferenceError(
                    words: "of the request there are {request.header.Name}, {request.query.name},"
                        + " {request.client}, {request.body} and {request.body.field}")
            }
            self = .requestBody(path: Array(rest.dropFirst()))
        } else {
            self = rest.isEmpty ? .name(root) : .call(root, path: rest)
        }
    }

    private static func steps(of text: String) throws(ReferenceError) -> [TemplateText.Step] {
        let path: JSONPath
        do { path = try JSONPath(text) } catch { throw ReferenceError(words: error.description) }
        guard !path.isPlural else {
            throw ReferenceError(
                words: "[] stands for many values; say which one, as in items[0].id")
        }
        return path.steps.compactMap { step in
            switch step {
            case .key(let key): .key(String(key))
            case .element(let index): .index(index)
            case .everyElement: nil
            }
        }
    }
}
