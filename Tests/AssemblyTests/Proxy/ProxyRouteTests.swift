import Foundation
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// Which requests a route with `*` or `ANY` matches, and the target that the backend gets.
@Suite(.watched) struct ProxyRouteTests {
    /// The first line that the backend gets; the status where it gets nothing.
    private func target(
        _ target: String, route: String = "ANY /x/*", proxy: String = "to: a",
        method: String = "GET", top: String = ""
    ) throws -> String {
        let harness = try ProxyHarness(proxy, route: route, top: top)
        let client = try harness.send(request(method, target))
        let line = harness.received.components(separatedBy: "\r\n").first ?? ""
        let status = client.text.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        harness.expectQuiet()
        return line.isEmpty ? status : line.replacing(" HTTP/1.1", with: "")
    }

    @Test(arguments: [
        "/x/", "/x/a", "/x/a/b", "/x/a%2Fb", "/x//a//", "/x/a?", "/x/a?b=%zz&&c", "/x/%252e%252e/a",
        "/x/.a", "/x/...", "/x/a;b=c", "/x/a%20b", "/x/%41",
    ])
    func restAndQueryPassByteForByte(_ path: String) throws {
        #expect(try target(path) == "GET \(path)")
        let rest = path.dropFirst(3)
        #expect(try target(path, proxy: "to: a, path: /v2/*") == "GET /v2/\(rest)")
    }

    @Test(arguments: [
        "/x/..", "/x/../a", "/x/./a", "/x/%2e%2e/a", "/x/.%2E/a", "/x/a/%2e", "/x/..%2fa",
        "/x/a%2F..",
        "/x/%2e%2e%2fa", "/x/..;/a", "/x/..%3b/a", "/x/a%00", "/x/a%5cb", "/x/..%5ca",
    ])
    func pathThatServersReadInSeveralWaysGets400(_ path: String) throws {
        #expect(try target(path) == "400")
    }

    /// A backend with HTTP/2 may end a connection, with the requests of other clients, for a longer one.
    @Test func targetThatTheBackendsPathMakesTooLongGets414() throws {
        func sent(_ bytes: Int) throws -> String {
            let path = "/x/" + String(repeating: "a", count: bytes - 3)
            return try target(
                path, proxy: "to: a, path: /v2/*", top: "limits: { uri_bytes: 64KiB }")
        }
        #expect(try sent(64 * 1024 - 1).hasPrefix("GET /v2/aaa"))
        #expect(try sent(64 * 1024) == "414")
    }

    /// A parameter in `path` is what stands before the suffix, byte for byte.
    @Test(arguments: [
        ("/x/a.tar.gz", "GET /f/a"), ("/x/%61.tar%2egz", "GET /f/%61"),
        ("/x/a%2E.t%61r%2Eg%7a", "GET /f/a%2E"), ("/x/a.tar.gz.tar.gz?b", "GET /f/a.tar.gz?b"),
        ("/x/a.tar", "404"), ("/x/.tar.gz", "404"), ("/x/..tar.gz", "400"),
    ])
    func pathHasWhatStandsBeforeTheSuffix(_ path: String, _ expected: String) throws {
        let route = "GET /x/{id}.tar.gz"
        #expect(try target(path, route: route, proxy: "to: a, path: \"/f/{id}\"") == expected)
        if expected.hasPrefix("GET "), !path.contains("?") {
            #expect(
                try target(path, route: route, proxy: "to: a, path: \"/f/{id}.zip\"")
                    == "\(expected).zip")
        }
    }

    @Test func pathIsRewritten() throws {
        let route = "GET /x/{id}/files/*"
        #expect(
            try target("/x/%35/files/a/b?q", route: route, proxy: "to: a, path: \"/{id}/f/*\"")
                == "GET /%35/f/a/b?q")
        #expect(
            try target("/x/5/files/a", route: route, proxy: "to: a, path: /fixed") == "GET /fixed")
        #expect(try target("http://gateway/x/a?b", proxy: "to: a") == "GET /x/a?b")
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func anyMethodPasses(_ method: String) throws {
        #expect(try target("/x/a", method: method) == "\(method) /x/a")
    }

    @Test func traceAndTheBareBeginningDoNotMatch() throws {
        #expect(try target("/x/a", method: "TRACE") == "405")
        #expect(try target("/x") == "404")
        #expect(try target("/x/a", route: "ANY /x/{id}") == "GET /x/a")
        #expect(try target("/x/a/b", route: "ANY /x/{id}") == "404")
    }

    /// A literal before a parameter before `*`, a method before `ANY`.
    @Test func mostSpecificRouteServes() throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - { route: ANY /*, proxy: { to: a, path: /rest/* } }
                  - { route: "ANY /a/{id}", proxy: { to: a, path: "/param/{id}" } }
                  - { route: GET /a/b, proxy: { to: a, path: /literal } }
                  - { route: ANY /a/*, proxy: { to: a, path: /below/* } }
                """)
        let expected = [
            "GET /a/b": "/literal", "HEAD /a/b": "/literal", "POST /a/b": "/param/b",
            "GET /a/c": "/param/c",
            "GET /a/": "/below/", "GET /a/b/c": "/below/b/c", "GET /b": "/rest/b",
            "GET /": "/rest/",
        ]
        for (line, target) in expected.sorted(by: { $0.key < $1.key }) {
            let words = line.split(separator: " ").map(String.init)
            _ = try harness.fetch(request(words[0], words[1]))
            #expect(harness.seen.last?.target == target, "\(line)")
        }
        harness.expectQuiet()
    }
}
