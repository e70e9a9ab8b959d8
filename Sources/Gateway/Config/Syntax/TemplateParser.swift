import Basics
import JSONText

/// Why a text is not a valid template, and the offset of the error in code points.
struct TemplateError: Error, Equatable {
    let offset: Int
    let text: String
}

extension TemplateText {
    /// Parses a template; the text in braces must be a reference.
    init(parsing text: String) throws(TemplateError) {
        var parser = TemplateParser(text)
        try parser.parse()
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

    mutating func parse() throws(TemplateError) {
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
                    offset: at, text: "unmatched }; write }} for a literal }")
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
            throw TemplateError(
                offset: open, text: "this { is never closed; write {{ for a literal {")
        }
        at = close + 1
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[(open + 1)..<close])
        let (value, separator) = Self.split(String(text))
        let isOptional = value.hasSuffix("?")
        let name = isOptional ? String(value.dropLast()) : value
        guard !(isOptional && name.hasSuffix(",")) else {
            throw TemplateError(
                offset: open + 1,
                text: "{\(String(text))}: the '?' comes before the comma: {\(name.dropLast())?,}")
        }
        do {
            return TemplateText.Reference(
                text: String(text), offset: open + 1, name: name, isOptional: isOptional,
                separator: separator, source: try .init(parsing: name))
        } catch {
            throw TemplateError(offset: open + 1, text: "{\(String(text))}: \(error.message)")
        }
    }
}

extension TemplateParser {
    /// The value of a reference, and the separator behind it: a comma, or `&name=`.
    fileprivate static func split(
        _ text: String
    ) -> (value: String, separator: TemplateText.Separator?) {
        if text.hasSuffix(",") { return (String(text.dropLast()), .comma) }
        guard text.hasSuffix("="), let start = text.lastIndex(of: "&") else { return (text, nil) }
        let name = text[text.index(after: start)...].dropLast()
        return (String(text[..<start]), .parameter(String(name)))
    }
}

private struct ReferenceError: Error {
    let message: String
}

extension TemplateText.Source {
    fileprivate init(parsing text: String) throws(ReferenceError) {
        guard !text.contains(where: \.isWhitespace) else {
            throw ReferenceError(
                message: "a reference must not contain spaces; write {{ and }} for literal braces")
        }
        let header = "request.header."
        if text.hasPrefix(header) {
            let name = String(text.dropFirst(header.count))
            guard HeaderSyntax.isName(name) else {
                throw ReferenceError(message: "'\(name)' is not a valid header name")
            }
            self = .requestHeader(name)
            return
        }
        let query = "request.query."
        if text.hasPrefix(query) {
            let name = String(text.dropFirst(query.count))
            guard !name.isEmpty else {
                throw ReferenceError(message: "the name of the query parameter is missing")
            }
            self = .requestQuery(name)
            return
        }
        try self.init(path: try Self.steps(of: text))
    }

    private init(path: [TemplateText.Step]) throws(ReferenceError) {
        guard case .key(let root)? = path.first else {
            throw ReferenceError(message: "a reference starts with a name")
        }
        let rest = Array(path.dropFirst())
        if root == "request" {
            if rest == [.key("client")] {
                self = .requestClient
                return
            }
            if rest == [.key("caller")] {
                self = .requestCaller
                return
            }
            guard rest.first == .key("body") else {
                throw ReferenceError(
                    message:
                        "references to the request are {request.header.Name}, {request.query.name},"
                        + " {request.client}, {request.caller}, {request.body} and {request.body.field}"
                )
            }
            self = .requestBody(path: Array(rest.dropFirst()))
        } else {
            self = rest.isEmpty ? .name(root) : .call(root, path: rest)
        }
    }

    private static func steps(of text: String) throws(ReferenceError) -> [TemplateText.Step] {
        let path: JSONPath
        do { path = try JSONPath(text) } catch { throw ReferenceError(message: error.description) }
        guard !path.isPlural else {
            throw ReferenceError(
                message: "[] selects many values; select one, as in items[0].id")
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
