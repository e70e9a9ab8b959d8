import Foundation
import Testing

/// The table of HTTP rules names a test for each rule; the test must exist.
@Suite struct RulesTests {
    @Test func everyRuleHasItsTest() throws {
        let rules = try String(
            contentsOf: Sources.root.appending(path: "docs/contribute/http-rules.csv"),
            encoding: .utf8)
        var count = 0
        for line in rules.split(separator: "\n").dropFirst() {
            let named = line.matches(of: /`(\w+Tests)\.(\w+)`/)
            #expect(!named.isEmpty, "no test: \(line)")
            for test in named {
                #expect(try TestNames.contains(test.1, test.2), "\(test.0)")
            }
            count += 1
        }
        #expect(count > 170)
    }
}
