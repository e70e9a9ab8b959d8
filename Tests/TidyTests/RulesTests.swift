import Foundation
import Testing

/// The table of HTTP rules names a test for each rule; the test must exist.
@Suite struct RulesTests {
    @Test func everyRuleHasItsTest() throws {
        let rules = try String(
            contentsOf: Sources.root.appending(path: "docs/HTTP-Rules.md"), encoding: .utf8)
        let tests = try Self.tests()
        var count = 0
        for line in rules.split(separator: "\n") where line.hasPrefix("| ") {
            guard !line.hasPrefix("| rule |") else { continue }
            let named = line.matches(of: /`(\w+Tests)\.(\w+)`/).last
            let test = try #require(named, "no test: \(line)")
            let isThere = tests.contains { text in
                text.contains("struct \(test.1) ") && text.contains("func \(test.2)(")
            }
            #expect(isThere, "\(test.0)")
            count += 1
        }
        #expect(count > 50)
    }

    private static func tests() throws -> [String] {
        let folder = Sources.root.appending(path: "Tests")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix("Tests.swift") && !$0.contains(".build") }
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
    }
}
