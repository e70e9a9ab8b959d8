import HTTP
import SimReactor
import Testing

@testable import HTTPServer

/// The bodies of rejections.
@Suite struct RefusalTests {
    /// The bytes behind the head: none for a HEAD request, the problem document for other methods.
    private func body(_ text: String, _ harness: ServerHarness, after milliseconds: Int) throws
        -> String?
    {
        let peer = try harness.connect()
        peer.send(text)
        harness.advance(milliseconds)
        guard let end = peer.text.firstRange(of: "\r\n\r\n") else { return nil }
        #expect(peer.text.contains("Connection: close\r\n"))
        #expect(peer.text.contains("Content-Length: "))
        return String(peer.text[end.upperBound...])
    }

    private static let heads: [String] = [
        "# / HTTP/1.1\r\n\r\n", "# / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "# / HTTP/9.9\r\nHost: a\r\n\r\n", "# / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
        "# /" + String(repeating: "a", count: 9000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
        "# / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 40_000) + "\r\n\r\n",
        "\r\n# / HTTP/1.1\r\n\r\n", "# ", "# / HTTP/1.1\r\nHos",
        "# / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "# / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
    ]

    @Test(arguments: heads, [false, true])
    func rejectionOfHeadHasNoBody(_ head: String, isSplit: Bool) throws {
        var settings = ServerSettings()
        settings.limits.bodyTimeout = .seconds(3)
        let harness = try ServerHarness(settings, service: ServerHarness.echoBody)
        if isSplit { harness.network.settings.split = .random }
        let refused = try body(head.replacing("#", with: "HEAD"), harness, after: 11_000)
        #expect(refused == "")
        let other = try body(head.replacing("#", with: "PUT"), harness, after: 11_000)
        #expect(try #require(other).hasPrefix("{\"type\""))
    }

    @Test(arguments: ["HEA", "HEADS / HTTP/1.1\r\n\r\n", "HEADS "])
    func rejectionOfAMethodThatOnlyBeginsLikeHeadHasABody(_ head: String) throws {
        let harness = try ServerHarness()
        #expect(try #require(try body(head, harness, after: 11_000)).hasPrefix("{\"type\""))
    }
}
