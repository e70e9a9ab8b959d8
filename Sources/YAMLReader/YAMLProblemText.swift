import CYAML

/// Translates libyaml's messages about invalid input for the operator, with the usual cause.
struct YAMLProblemText {
    private let raw: String
    private let location: SourceLocation
    private let source: SourceText

    /// The line of the problem before and after it.
    private let before: Substring.UnicodeScalarView
    private let after: Substring.UnicodeScalarView

    /// The start of the construct that contains the problem.
    private let contextStart: SourceLocation?

    init(_ parser: yaml_parser_t, in source: SourceText) {
        self.source = source
        raw = parser.problem.map { String(cString: $0) } ?? "it is not YAML"
        location =
            parser.error == YAML_READER_ERROR
            ? source.location(ofByte: parser.problem_offset)
            : source.location(of: parser.problem_mark)
        contextStart = parser.context == nil ? nil : source.location(of: parser.context_mark)
        let line = Substring(source.line(location.line)).unicodeScalars
        before = line.prefix(location.column - 1)
        after = line.dropFirst(location.column - 1)
    }

    var problem: DocumentProblem {
        if let hint = quotingHint { return DocumentProblem(location: location, text: hint) }
        if let start = unclosedStart { return start }
        if raw == "could not find expected ':'" {
            return DocumentProblem(
                location: contextStart ?? location, text: "expected ':' after this key")
        }
        return DocumentProblem(location: location, text: plainText)
    }

    /// Hints for common causes in this configuration language: `{name}`, `${...}` and `[...]` in a
    /// text without quotes.
    private var quotingHint: String? {
        if raw == "did not find expected node content", before.last == "[", after.first == ":" {
            return listenHint
        }
        if raw.hasPrefix("did not find expected ',' or") {
            switch after.first {
            case "{" where before.last == "$":
                return #"inside { } and [ ] a text with ${...} needs quotes: "${NAME}""#
            case "{": return #"inside { } and [ ] a text with {name} needs quotes: "/items/{id}""#
            case "[": return #"inside { } and [ ] a text with [...] needs quotes: "items[].id""#
            default: return nil
            }
        }
        guard raw == "did not find expected key" else { return nil }
        switch before.last {
        case "]" where after.first == ":": return listenHint
        case "]": return #"a text that starts with '[' needs quotes: "[...]...""#
        case "}": return #"a text that starts with '{' needs quotes: "{name}...""#
        default: return nil
        }
    }

    private var listenHint: String {
        #"an IPv6 address needs quotes around all of it: "[::1]:8080""#
    }

    /// A construct that is open at the end of the file is reported at its start.
    private var unclosedStart: DocumentProblem? {
        guard let contextStart, after.isEmpty, source.isLast(line: location.line) else {
            return nil
        }
        let opening = source.line(contextStart.line).unicodeScalars
            .dropFirst(contextStart.column - 1).first
        switch opening {
        case "[", "{", "\"", "'":
            let bracket = opening.map { String($0) } ?? ""
            return DocumentProblem(location: contextStart, text: "this \(bracket) is never closed")
        default: return nil
        }
    }

    private var plainText: String {
        switch raw {
        case "did not find expected key" where isAfterQuote:
            "unexpected text after a closing quote; put the whole text into quotes"
        case "did not find expected key":
            "this line does not belong to the block around it; check its indentation"
        case "did not find expected '-' indicator":
            "expected the next '- ' of the list\(contextLine(" that begins in line ")) here;"
                + " a key of an entry is indented more, and a mapping has no '- '"
        case "mapping values are not allowed in this context":
            "a ':' is not allowed here; if it is part of a text, quote the text"
        case "block sequence entries are not allowed in this context":
            "a list with '- ' must start on a line of its own"
        case "mapping keys are not allowed in this context":
            "a '? ' is not allowed here; if it is part of a text, quote the text"
        case "found character that cannot start any token":
            after.first == "\t"
                ? "a tab cannot be used for indentation; use spaces"
                : "a text cannot start with '\(after.first.map { String($0) } ?? "")'; quote it"
        case "found unknown escape character":
            #"unknown escape in "..."; use '...' for texts with backslashes"#
        case "found incompatible YAML document":
            "only YAML 1.2 can be read; remove the %YAML line"
        case "did not find expected node content":
            source.isLast(line: location.line) && after.isEmpty
                ? "the file ends inside [ ] or { }" : "expected a text here"
        case "did not find expected ',' or ']'":
            "expected ',' or ']' here\(openLine(of: "["))"
        case "did not find expected ',' or '}'":
            "expected ',' or '}' here\(openLine(of: "{"))"
        default:
            raw
        }
    }

    private func contextLine(_ words: String) -> String {
        contextStart.map { "\(words)\($0.line)" } ?? ""
    }

    /// The line of the bracket that is open, if it is an earlier one.
    private func openLine(of bracket: String) -> String {
        guard let contextStart, contextStart.line < location.line else { return "" }
        return contextLine("; the '\(bracket)' in line ") + " is not closed"
    }

    private var isAfterQuote: Bool {
        let last = before.reversed().drop { $0 == " " }.first
        return last == "\"" || last == "'"
    }
}

extension SourceText {
    /// The source location of one of libyaml's marks, which count from 0.
    func location(of mark: yaml_mark_t) -> SourceLocation {
        SourceLocation(file, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}
