import Foundation
import Testing
import YAMLReader

@testable import Gateway

/// The schema for editors, and the files that must be valid by it.
@Suite struct SchemaFileTests {
    static let path = "config/tributary.schema.json"

    @Test func committedSchemaIsTheGeneratedOne() throws {
        try Golden.expect(Self.path, says: ConfigSchema.text)
    }

    @Test func exampleRefersToTheSchema() throws {
        let first = try Golden.text("config/tributary.yaml").split(separator: "\n").first
        #expect(first == "# yaml-language-server: $schema=tributary.schema.json")
    }

    // MARK: Examples

    /// All configurations in this repository that should be valid.
    static let examples: [(name: String, text: String)] = {
        var examples = [("the manual's example", Example.text), ("the demo", demo)]
        for folder in ["config", "Tests/Fixtures/plans"] {
            for name in Golden.names(in: folder, endingIn: ".yaml") where !reportsViolation(name) {
                examples.append((name, (try? Golden.text("\(folder)/\(name)")) ?? ""))
            }
        }
        return examples
    }()

    /// The names of files that are invalid on purpose.
    static func reportsViolation(_ name: String) -> Bool { name.hasPrefix("wrong-") }

    /// Extracted from the source of the executable, which tests cannot import.
    private static var demo: String {
        let source = (try? Golden.text("Sources/tributary/Demo/DemoConfig.swift")) ?? ""
        let text = source.split(separator: "\"\"\"", omittingEmptySubsequences: false)
        return text.count > 1 ? text[1].replacing("\n        ", with: "\n") + "" : ""
    }

    private func problems(_ text: String) throws -> [String] {
        let document = try YAMLDocument.read(Array(text.utf8), file: "c.yaml")
        return try SchemaValidator(ConfigSchema.text).problems(of: document)
    }

    @Test(arguments: examples.map(\.name)) func acceptsExamples(_ name: String) throws {
        let example = try #require(Self.examples.first { $0.name == name })
        #expect(example.text.contains("version: 1"))
        #expect(try problems(example.text) == [])
    }

    /// Errors that editors find before `check`; each invalid value has a valid counterpart.
    @Test(arguments: [
        ("route: GET /x/{id}", "route: GET /x/:id"), ("route: GET /a:b", "route: GET /files/*/a"),
        ("route: POST /", "route: FETCH /"), ("route: GET /a/{b}/", "route: GET a"),
        ("route: ${METHOD} /x", "route: GET /{a b}"),
        ("route: \"GET /x/{id}.tar.gz\"", "route: \"GET /x/{id}.json/y\""),
        ("route: \"GET /{id}.json\"", "route: \"GET /x{id}.json\""),
        ("listen: 127.0.0.1:80", "listen: 127.0.0.1"), ("listen: unix:/a", "listen: unix:a"),
        ("listen: \"[::1]:80\"", "listen: \"*:80\""), ("listen: ${ADDRESS}", "listen: 80"),
        ("url: http://h:1/v1", "url: htpp://h:1"), ("url: HTTPS://h", "url: h:8080"),
        ("url: \"http://${HOST}:1\"", "url: http://h/?a=1"),
        ("headers: { X-A: 1 }", "headers: { X A: 1 }"),
        ("call_headers: { X-A: 1 }", "call_headers: { \"X:A\": 1 }"),
        ("call_headers: { X-A: true }", "call_headers: { X-A: [1] }"),
        ("forward: { headers: [Accept] }", "forward: { headers: [\"a b\"] }"),
        ("breaker: { open_at: 50% }", "breaker: { open_at: 101% }"),
        ("breaker: { open_at: 100% }", "breaker: { open_at: 0% }"),
        ("breaker: { open_at: 0.5% }", "breaker: { open_at: 0.0% }"),
        ("max_concurrent: 1000000", "max_concurrent: 1000001"),
    ])
    func patternsAndBounds(_ right: String, _ wrong: String) throws {
        for (line, isRight) in [(right, true), (wrong, false)] {
            let text = Self.file(with: line)
            let problems = try problems(text)
            #expect(problems.isEmpty == isRight, "\(line): \(problems)")
            let found = load(
                ["c.yaml": text], environment: ["METHOD": "GET", "ADDRESS": "a:1", "HOST": "h"])
            #expect((found.config != nil) == isRight, "\(line): \(found.problems.lines)")
        }
    }

    /// A configuration that contains the line.
    private static func file(with line: String) -> String {
        let isRoute = line.hasPrefix("route:")
        let isCall = line.hasPrefix("call_")
        let isTop = line.hasPrefix("listen:")
        let isEndpoint = line.hasPrefix("forward:")
        let isURL = line.hasPrefix("url:")
        let isBackend = !isRoute && !isCall && !isTop && !isEndpoint && !isURL
        return """
            version: 1
            \(isTop ? line : "")
            backends:
              a:
                \(isURL ? line : "url: http://h:1")
                \(isBackend ? line : "")
            endpoints:
              - \(isRoute ? line : "route: GET /x")
                \(isEndpoint ? line : "")
                calls:
                  one:
                    from: a
                    get: /one
                    \(isCall ? line.replacing("call_", with: "") : "")
            """
    }

    @Test(arguments: [
        ("version: 1", "version: 2"), ("deadline: 800ms", "deadline: 800"),
        ("deadline: 800ms", "dead_line: 800ms"), ("url: http://127.0.0.1:7001", "uri: a"),
        ("get: /v1/items", "post: /a\n        get: /v1/items"), ("min: 1", "min: one"),
        ("required: true", "required: yes"), ("open_at: 50%", "open_at: 0.5"),
        ("type: integer", "type: int"), ("from: catalog", "form: catalog"),
        ("at: .", "at: []"), ("keep: [available, warehouse.city]", "keep: available"),
    ])
    func rejectsInvalidConfigurations(_ right: String, _ wrong: String) throws {
        let text = Example.text.replacing(right, with: wrong)
        #expect(text != Example.text)
        #expect(try problems(text) != [])
    }

    // MARK: Defaults

    /// Every default is a valid value of its key.
    @Test func acceptsDefaultValues() throws {
        let schema = try JSONSerialization.jsonObject(with: Data(ConfigSchema.text.utf8))
        let definitions = try #require((schema as? [String: Any])?["$defs"] as? [String: Any])
        var count = 0
        for (name, definition) in definitions.sorted(by: { $0.key < $1.key }) {
            let members = (definition as? [String: Any])?["properties"] as? [String: [String: Any]]
            for (key, member) in members ?? [:] {
                guard let value = member["default"] else { continue }
                count += 1
                var alone = member
                alone["$defs"] = definitions
                let text = try JSONSerialization.data(
                    withJSONObject: value, options: .fragmentsAllowed)
                let problems = try SchemaValidator(
                    String(
                        decoding: JSONSerialization.data(withJSONObject: alone), as: UTF8.self)
                ).problems(of: JSONConfigSource.read(Array(text), file: "default.json"))
                #expect(problems == [], "\(name).\(key)")
            }
        }
        #expect(count > 30)
    }
}
