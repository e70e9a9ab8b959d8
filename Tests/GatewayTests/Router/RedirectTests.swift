import Basics
import HTTP
import Promises
import SimReactor
import TestSupport
import Testing

@testable import Gateway

/// The response of a listener with `redirect`.
@Suite struct RedirectTests {
    private func response(_ target: String, host: String?, port: UInt16? = nil) throws -> Response {
        let testbed = Testbed(seed: 1, subject: "gateway", peers: "client")
        var fields = Fields()
        if let host { fields.append(.host, try #require(FieldValue(host))) }
        let head = RequestHead(
            method: .get, target: try #require(Target(target)), fields: fields)
        let facts = ConnectionFacts(isSecure: false, redirect: HTTPSRedirect(port: port))
        let loop = testbed.loop
        let context = RequestContext(
            ExchangeStart(
                id: RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
                began: loop.now, peer: PeerAddress(text: nil, bits: .unknown, facts: facts),
                resources: ExchangeResources(local: loop.local)))
        var response: Response?
        RedirectToHTTPS.service(Request(head: head, body: .empty), context)
            .whenSettled { response = try? $0.get() }
        testbed.advance(by: .milliseconds(1))
        return try #require(response)
    }

    @Test(
        arguments: [
            ("/a/b?c=%20d", "a.test", nil, "https://a.test/a/b?c=%20d"),
            ("/", "a.test:8080", nil, "https://a.test/"),
            ("/", "A.test:8080", 8443, "https://A.test:8443/"),
            ("/%2F/..//x?", "a.test", nil, "https://a.test/%2F/..//x?"),
            ("/x", "[::1]:80", 8443, "https://[::1]:8443/x"),
            ("http://b.test:80/x?y", "a.test", nil, "https://b.test/x?y"),
            ("http://b.test", "a.test", nil, "https://b.test/"),
            ("*", "a.test", nil, "https://a.test"),
        ] as [(String, String, UInt16?, String)])
    func redirectsToSameHostAndTarget(
        _ target: String, _ host: String, _ port: UInt16?, _ location: String
    ) throws {
        let response = try response(target, host: host, port: port)
        #expect(response.status.code == 308)
        #expect(response.fields["Location"].map { String($0.bytes) } == location)
    }

    @Test(arguments: [nil, ""]) func answersRequestWithoutHostWith400(_ host: String?) throws {
        let response = try response("/", host: host)
        #expect(response.status == .badRequest)
        #expect(response.fields["Location"] == nil)
    }
}
