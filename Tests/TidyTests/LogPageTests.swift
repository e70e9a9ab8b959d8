import Foundation
import Testing

/// The tables of log messages in `docs/operate/monitoring.md` against the calls that write them.
@Suite struct LogPageTests {
    /// One message of the log.
    struct Message: Equatable {
        var levels: Set<String>
        var fields: Set<String>
    }

    @Test func thePageListsEveryMessageWithItsFields() throws {
        let page = try String(
            contentsOf: Sources.root.appending(path: "docs/operate/monitoring.md"), encoding: .utf8)
        let documented = Self.documented(in: page)
        var written: [String: Message] = [:]
        for file in try Sources.all() { Self.collect(from: file, into: &written) }
        for name in Set(documented.keys).union(written.keys).sorted() {
            #expect(documented[name] == written[name], "\(name)")
        }
        #expect(written.count > 15)
    }

    /// The fields of the message `request` have a table of their own, with their meanings.
    @Test func everyFieldOfARequestIsExplained() throws {
        let page = try String(
            contentsOf: Sources.root.appending(path: "docs/operate/monitoring.md"), encoding: .utf8)
        let table = try #require(page.split(separator: "| field | meaning |").dropFirst().first)
        let rows = table.split(separator: "\n").prefix { $0.hasPrefix("|") }
        let explained = rows.flatMap { Self.names(in: $0.split(separator: "|").first ?? "") }
        #expect(Set(explained) == Self.documented(in: page)["request"]?.fields)
    }

    // MARK: What is found

    @Test func messagesAreFoundInEveryForm() {
        let file = Sources.File(
            target: "T", path: "T.swift",
            lines: [
                "log.write(.info, \"plain\")",
                "log.write(.warning, \"short\") { $0.add(\"one\", 1) }",
                "log.write(isBad ? .error : .warning, \"long\") { line in",
                "    line.add(milliseconds: \"two\", time)",
                "    if let x { line.add(literal: \"three\", x) }",
                "    addMore(of: x, to: &line)",
                "}",
                "log.write(",
                "    .error, \"wrapped\")",
                "logging.log.write(.debug, \"of a member\")",
                "line.add(\"elsewhere\", 1)",
                "func addMore(of x: X, to line: inout LogLine) {",
                "    line.add(\"four\", untrusted: x)",
                "}",
            ])
        var found: [String: Message] = [:]
        Self.collect(from: file, into: &found)
        #expect(
            found == [
                "plain": Message(levels: ["info"], fields: []),
                "short": Message(levels: ["warning"], fields: ["one"]),
                "long": Message(levels: ["error", "warning"], fields: ["two", "three", "four"]),
                "wrapped": Message(levels: ["error"], fields: []),
                "of a member": Message(levels: ["debug"], fields: []),
            ])
    }

    @Test func rowsAreRead() {
        let page = """
            | message | level | fields |
            |---|---|---|
            | `request` | info | `id`, `ms` |
            | `configuration` | warning, error | |
            """
        #expect(
            Self.documented(in: page) == [
                "request": Message(levels: ["info"], fields: ["id", "ms"]),
                "configuration": Message(levels: ["warning", "error"], fields: []),
            ])
    }

    // MARK: Reading

    /// The rows of tables whose head is `message | level | fields`.
    private static func documented(in page: String) -> [String: Message] {
        var messages: [String: Message] = [:]
        var isTable = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "| message | level | fields |" { isTable = true }
            if !line.hasPrefix("|") { isTable = false }
            guard isTable, line.hasPrefix("| `") else { continue }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 3, let name = names(in: cells[0]).first else { continue }
            let levels = cells[1].split { ", ".contains($0) }.map(String.init)
            messages[name] = Message(levels: Set(levels), fields: Set(names(in: cells[2])))
        }
        return messages
    }

    /// What stands between backquotes.
    private static func names(in text: some StringProtocol) -> [String] {
        String(text).matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// The messages that a file writes, with the fields that are added in the closure of the call, or
    /// in the functions of the file that this closure passes its line to.
    private static func collect(from file: Sources.File, into messages: inout [String: Message]) {
        let code = file.code.map(\.text).joined(separator: "\n")
        var helpers: [(name: String, fields: [String])] = []
        for match in code.matches(of: /func (\w+)\([^)]*inout LogLine\)/) {
            let body = block(after: match.range.upperBound, in: code)
            helpers.append((String(match.1), fields(in: body)))
        }
        for match in code.matches(of: /log\.write\(\s*([^"()]*)"([^"]+)"\s*\)/) {
            let closure = block(after: match.range.upperBound, in: code)
            var message = messages[String(match.2)] ?? Message(levels: [], fields: [])
            for level in match.1.matches(of: /\.(debug|info|warning|error)\b(?!\s*\?)/) {
                message.levels.insert(String(level.1))
            }
            // What a condition compares with is no level of its own.
            if let condition = match.1.firstMatch(of: /==\s*\.(\w+)\s*\?([^"]*)/) {
                message.levels = Set(
                    condition.2.matches(of: /\.(debug|info|warning|error)\b/).map { String($0.1) })
            }
            message.fields.formUnion(fields(in: closure))
            for helper in helpers where closure.contains("\(helper.name)(") {
                message.fields.formUnion(helper.fields)
            }
            messages[String(match.2)] = message
        }
    }

    private static func fields(in code: Substring) -> [String] {
        code.matches(of: /\.add\(\s*(?:\w+:\s*)?"(\w+)"/).map { String($0.1) }
    }

    /// The braces that follow on the same line, with what is between them; empty if none follow.
    private static func block(after start: String.Index, in code: String) -> Substring {
        let rest = code[start...]
        let gap = rest.prefix { $0 != "{" }
        guard gap.allSatisfy({ $0 == " " }), gap.endIndex < rest.endIndex else { return "" }
        var depth = 0
        for index in rest.indices[gap.endIndex...] {
            if rest[index] == "{" { depth += 1 }
            if rest[index] == "}" { depth -= 1 }
            if depth == 0 { return rest[gap.endIndex...index] }
        }
        return rest[gap.endIndex...]
    }
}
