import Foundation
import Testing

/// The table of HTTP rules names a test for each rule; the test must exist.
@Suite struct RulesTests {
    @Test func everyRuleHasItsTest() throws {
        let rules = try String(
            contentsOf: Sources.root.appending(path: "docs/contribute/http-rules.md"),
            encoding: .utf8)
        var count = 0
        for line in rules.split(separator: "\n") where line.hasPrefix("| ") {
            guard !line.hasPrefix("| rule |") else { continue }
            let named = line.matches(of: /`(\w+Tests)\.(\w+)`/).last
            let test = try #require(named, "no test: \(line)")
            #expect(try TestNames.contains(test.1, test.2), "\(test.0)")
            count += 1
        }
        #expect(count > 50)
    }
}
