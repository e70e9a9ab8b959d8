import JSONText
import Patterns
import YAMLReader

/// Texts with a syntax of their own: headers, paths, patterns, statuses, conditions.
extension ValueReader where Value == String {
    /// A header of the client's request that is forwarded.
    static var forwardedHeader: ValueReader {
        text(.headerName) { text throws(Refusal) in
            guard !text.contains("*") else {
                throw Refusal(
                    "must list every header by its name, as in headers: [Authorization,"
                        + " Accept-Language]; wildcards such as '\(text)' are not supported")
            }
            try HeaderSyntax.check(name: text)
            guard text.lowercased() != "proxy" else {
                throw Refusal("must not be '\(text)', which CGI programs take for their own proxy")
            }
            let usual = HeaderSyntax.hyphenated(text)
            guard !HeaderSyntax.isForwarding(usual) || HeaderSyntax.isForwarding(text) else {
                throw Refusal("must not be '\(text)', which many servers take for '\(usual)'")
            }
        }
    }

    /// A query parameter of the client's request that is forwarded.
    static var forwardedQueryName: ValueReader {
        text { text throws(Refusal) in
            if text.isEmpty { throw Refusal("must not be empty") }
            guard text != "*" else {
                throw Refusal(
                    "must list every parameter by its name, as in query: [page, size]; wildcards are"
                        + " not supported (write query: all for every undeclared parameter)")
            }
        }
    }

    static var headerValue: ValueReader {
        .scalar(.scalar, expected: "must be a text or a number") { scalar throws(Refusal) in
            if scalar.type == .null && !scalar.isExpanded {
                throw Refusal("must have a value; write \"\" for an empty one")
            }
            try HeaderSyntax.check(value: scalar.text)
            return scalar.text
        }
    }

    /// The path of one or several values in a response: `items[].price`.
    static var path: ValueReader {
        text(.path) { text throws(Refusal) in try JSONPath.check(text) }
    }

    /// A regular expression, compiled in the same way as for requests.
    static var pattern: ValueReader {
        locatedText(.regex) { scalar throws(Refusal) in
            do throws(PatternError) {
                _ = try Pattern(scalar.text)
            } catch {
                throw Refusal(
                    "must be a regular expression: \(fixed: error)",
                    at: scalar.textStart?.advanced(by: error.offset))
            }
        }
    }

    /// An absolute path, percent-encoded where necessary.
    static var urlPath: ValueReader {
        text(.pathOfURL) { text throws(Refusal) in
            guard text.hasPrefix("/") else { throw Refusal("must begin with a '/'") }
            try URLSyntax.check(pathAndQuery: text)
        }
    }
}

extension JSONPath {
    @Sendable static func check(_ text: String) throws(Refusal) {
        do {
            _ = try JSONPath(text)
        } catch {
            throw Refusal(
                "must be a path such as a.b or items[].price; in '\(text)' \(fixed: error)")
        }
    }
}

extension HeaderSyntax {
    @Sendable static func checkToken(_ name: String) throws(Refusal) {
        guard isName(name) else {
            throw Refusal("has the invalid header name '\(name)'; use letters, digits and -")
        }
    }

    @Sendable package static func check(name: String) throws(Refusal) {
        try checkToken(name)
        guard !isConnectionField(name) else {
            throw Refusal(
                "must not be '\(name)'; the gateway sets the headers of the connection itself")
        }
        guard !isSentWithEveryCall(name) else {
            throw Refusal("must not be '\(name)'; the gateway sends it with every call")
        }
    }

    package static func check(value: String) throws(Refusal) {
        guard isValue(value) else {
            throw Refusal("must be one line, without control characters")
        }
    }
}

extension ValueReader where Value == ClosedRange<Int> {
    /// `404`, or `200-299`.
    static var statuses: ValueReader {
        let message = "must be a status such as 404, or a range such as 200-299"
        return .scalar(
            .either([.integer(200...599), .text(format: .statusRange)]), expected: message
        ) {
            scalar throws(Refusal) in
            let ends = scalar.text.split(separator: "-", omittingEmptySubsequences: false)
                .map { $0.utf8.count == 3 ? Int($0) : nil }
            guard (1...2).contains(ends.count), let first = ends[0],
                let last = ends[ends.count - 1],
                first <= last
            else {
                let text = scalar.text.lowercased()
                let hint =
                    "2345".first { text == "\($0)xx" }.map { "; write \($0)00-\($0)99" } ?? ""
                throw Refusal("\(fixed: message)\(fixed: hint)")
            }
            guard (200...599).contains(first), (200...599).contains(last) else {
                throw Refusal("must be between 200 and 599, the statuses of final responses")
            }
            return first...last
        }
    }
}

extension ValueReader where Value == Config.Workers {
    static var workers: ValueReader {
        let message = "must be auto, or a whole number from 1 to 1024"
        return .scalar(.either([.choice(["auto"]), .integer(1...1024)]), expected: message) {
            scalar throws(Refusal) in
            switch (scalar.text, scalar.type) {
            case ("auto", _): return .auto
            case (_, .integer(let count?)) where (1...1024).contains(count): return .count(count)
            default: throw Refusal(.init(fixed: message))
            }
        }
    }
}
