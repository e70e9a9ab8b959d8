import Basics
import JSONText

@testable import Gateway
@testable import HTTP
@testable import Patterns

extension FuzzTarget {
    /// A backend's URL with inserted values: template, a zero byte, the value of `{v}`. Every value
    /// stays one segment or one parameter.
    static let template = FuzzTarget(
        name: "template",
        tokens: ["\0", "/", "{v}", "{a.b[0]}", "{{", "}}", "?", "&", "=", "%2f", "..", "#", "é"]
    ) { input in
        let zero = input.firstIndex(of: 0) ?? input.endIndex
        guard let text = String(validating: input[..<zero], as: UTF8.self),
            let template = try? TemplateText(parsing: text)
        else { return nil }
        let value = Bytes(Array(input[min(zero + 1, input.count)...]))
        // The path in a configuration begins with a slash.
        guard text.hasPrefix("/"), let harmless = filled(template, Bytes("x")) else { return nil }
        guard let target = filled(template, value) else {
            return "a value makes the target invalid"
        }
        guard Array(target.segments).count == Array(harmless.segments).count else {
            return "a value divides the path: \(target)"
        }
        guard Array(target.parameters).count <= Array(harmless.parameters).count else {
            return "a value divides the query: \(target)"
        }
        var line = TextBuffer()
        line.append(requestLine: .get, target, host: "a")
        let lineEnds = String(line).utf8.count { $0 == 13 || $0 == 10 }
        return lineEnds == 4 ? nil : "a value splits the head"
    }

    private static func filled(_ template: TemplateText, _ value: Bytes) -> Target? {
        var target: [UInt8] = []
        for segment in template.segments {
            switch segment {
            case .literal(let text): target.append(TemplatePlanner.encoded(text))
            case .reference: target.append(percentEncoding: value.span)
            }
        }
        return Target(Bytes(target))
    }

    /// A regular expression, a zero byte, and the value to match.
    static let pattern = FuzzTarget(
        name: "pattern",
        tokens: [
            "\0", "(", ")", "(?:", "(?<a>", "|", "*", "+", "?", "{2,5}", "{0}", "{2000}", "[", "]",
            "[^", "a-z", "\\d", "\\W", "\\p{L}", "\\u{1f600}", "\\x41", "^", "$", ".", "é", "aaaa",
        ]
    ) { input in
        let zero = input.firstIndex(of: 0) ?? input.endIndex
        guard let text = String(validating: input[..<zero], as: UTF8.self),
            let pattern = try? Pattern(text)
        else { return nil }
        let value = Bytes(Array(input[min(zero + 1, input.count)...]))
        let first = pattern.matches(value.span)
        // The pattern caches states; a second match must have the same result.
        return pattern.matches(value.span) == first ? nil : "two matches differ"
    }

    /// A request target with its path, its query, and their percent-encoding.
    static let path = FuzzTarget(
        name: "path",
        tokens: [
            "/", "//", "?", "&", "=", "+", "%", "%2f", "%2F", "%00", "%zz", "..", ".", "http://",
        ]
    ) { input in
        guard let target = Target(Bytes(input)) else { return nil }
        for segment in target.segments {
            guard let decoded = segment.percentDecoded() else {
                return "an escape in a valid path is invalid"
            }
            var encoded: [UInt8] = []
            encoded.append(percentEncoding: decoded.span)
            guard Bytes(encoded).percentDecoded() == decoded else {
                return "encoding changes a segment"
            }
            guard !encoded.contains(UInt8(ascii: "/")) else { return "a segment became two" }
        }
        for parameter in target.parameters {
            guard let decoded = parameter.decodedValue else { continue }
            var encoded: [UInt8] = []
            encoded.append(percentEncoding: decoded.span)
            guard Bytes(encoded).percentDecoded(plusIsSpace: true) == decoded else {
                return "encoding changes a parameter"
            }
        }
        return nil
    }
}
