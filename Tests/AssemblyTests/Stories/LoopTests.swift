import Basics
import Foundation
import TestSupport
import Testing
import WorkerSupport

/// A request that comes back to the gateway that has sent it is found by `Via`.
@Suite(.watched) struct LoopTests {
    private static let calls = """
        version: 1
        backends: { a: { url: "http://127.0.0.1:7001" } }
        endpoints:
          - route: GET /x
            calls: { one: { from: a, get: /1 } }
        """
    private static let proxy = """
        version: 1
        backends: { a: { url: "http://127.0.0.1:7001" } }
        endpoints:
          - route: GET /x
            proxy: a
        """

    /// The lines of `Via` that the backend gets.
    private func via(_ harness: GatewayHarness, _ lines: String...) throws -> [String] {
        let count = harness.seen.count
        #expect(try harness.fetch(request("GET", "/x", lines)).status == 200)
        #expect(harness.seen.count == count + 1)
        let head = harness.seen.last?.text.components(separatedBy: "\r\n") ?? []
        return head.filter { $0.hasPrefix("Via: ") }.map { String($0.dropFirst(5)) }
    }

    @Test(arguments: [calls, proxy]) func ownEntryIsRefused(_ config: String) throws {
        let harness = try GatewayHarness(config: config)
        let entry = try #require(try via(harness).first)
        #expect(entry.wholeMatch(of: /1\.1 tributary-[0-9a-f]{16}/) != nil)
        let count = harness.seen.count
        for line in [
            "Via: \(entry)", "via: 1.0 front, \(entry) (comment), 2 cdn",
            "Via: 1.0 front\r\nVia: \(entry)",
        ] {
            let response = try harness.fetch(get("/x", line))
            #expect(response.status == 508 && response.body.contains(#""reason":"loop""#))
        }
        #expect(harness.seen.count == count)
        #expect(harness.logged("reason") == ["loop", "loop", "loop"])
        harness.expectQuiet()
    }

    /// Another gateway with the same configuration has another name.
    @Test(arguments: [calls, proxy]) func otherGatewaysMayStandBefore(_ config: String) throws {
        let harness = try GatewayHarness(config: config)
        let other = "1.1 tributary-0123456789abcdef"
        let entries = try via(harness, "Via: \(other)")
        // Calls keep it, too: a loop through both is found by the first.
        #expect(entries.count == 2 && entries.contains(other))
        harness.expectQuiet()
    }

    /// A call is a request of the gateway, and no request that it passes on.
    @Test func callsDropTheEntriesOfOthers() throws {
        let harness = try GatewayHarness(config: Self.calls)
        #expect(try via(harness, "Via: 1.1 cdn.example").count == 1)
        harness.expectQuiet()
    }

    @Test func proxyKeepsTheEntriesOfOthers() throws {
        let harness = try GatewayHarness(config: Self.proxy)
        let entries = try via(harness, "Via: 1.1 cdn.example")
        #expect(entries.count == 2 && entries.first == "1.1 cdn.example")
        harness.expectQuiet()
    }

    /// A gateway whose backend is itself.
    @Test(arguments: ["proxy: a", "calls: { one: { from: a, get: /x, required: true } }"])
    func loopEndsAtOnce(_ kind: String) throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                backends: { a: { url: "http://127.0.0.1:8080", keepalive: { max_idle: 0 } } }
                endpoints:
                  - route: GET /x
                    \(kind)
                """)
        let response = try harness.fetch(get())
        #expect(response.status == (kind.hasPrefix("proxy") ? 508 : 502))
        harness.pass(100)
        // The client's request, and the one that came back.
        #expect(harness.logged("status") == ["508", "\(response.status)"])
        harness.expectQuiet()
    }
}
