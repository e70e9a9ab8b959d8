import Foundation
import TestSupport
import Testing
import WorkerSupport

/// What a newcomer reads first: the configuration of the README gives the response that it shows.
@Suite(.watched) struct ReadmeTests {
    @Test func configurationGivesTheResponseThatTheReadmeShows() throws {
        let page = URL(filePath: #filePath).appending(path: "../../../../README.md")
        let readme = try String(contentsOf: page.standardized, encoding: .utf8)
        let yaml = try #require(readme.firstMatch(of: /```yaml\n([^`]+)```/)).1
        let shown = try #require(
            readme.firstMatch(of: /\$ curl http:\/\/127.0.0.1:8080(\/[^ \n]+)\n *(\{.+\})\n/))

        let harness = try GatewayHarness(config: String(yaml))
        harness.on("/products/42", .ok(#"{"id":42,"name":"Lamp","price":19.90}"#))
        harness.on("/stock/42", .ok(#"{"available":7}"#))
        harness.on("/reviews?product=42", .hangs)
        #expect(try harness.fetch(get(String(shown.1))).body == shown.2)
        harness.expectQuiet()
    }
}
