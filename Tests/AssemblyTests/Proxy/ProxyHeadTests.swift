import Foundation
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// The heads of requests and responses that pass through.
@Suite(.watched) struct ProxyHeadTests {
    /// The lines that the backend receives, without those of every request.
    private func sent(
        _ lines: [String], proxy: String = "to: a", endpoint: String = "", backend: String = "",
        top: String = "", target: String = "/x/a"
    ) throws -> [String] {
        let harness = try ProxyHarness(
            proxy, endpoint: endpoint, backend: backend, top: top)
        try harness.send(request("GET", target, lines))
        let head = harness.received.components(separatedBy: "\r\n\r\n").first ?? ""
        harness.expectQuiet()
        let usual = ["x-request-id:", "traceparent:"]
        return head.components(separatedBy: "\r\n").dropFirst().filter { line in
            !usual.contains { line.lowercased().hasPrefix($0) }
        }
    }

    @Test func fieldsOfTheClientPassUnchanged() throws {
        let lines = try sent(["X-A: 1", "x-a:  two", "Accept: */*", "Cookie: a=b"])
        #expect(
            Array(lines.dropFirst().prefix(4)) == [
                "X-A: 1", "x-a:  two", "Accept: */*", "Cookie: a=b",
            ])
        #expect(lines.count == 9)
    }

    /// A backend with HTTP/2 may end a connection, with the requests of other clients, for a longer one.
    @Test func valueThatTemplatesMakeTooLongIsLeftOut() throws {
        func twice(_ count: Int) throws -> Bool {
            let lines = try sent(
                ["X-A: " + String(repeating: "a", count: count)],
                proxy: #"to: a, headers: { X-Twice: "{request.header.X-A}{request.header.X-A}" }"#,
                top: "limits: { header_bytes: 64KiB }")
            return lines.contains { $0.hasPrefix("X-Twice: aaa") }
        }
        #expect(try twice(32 * 1024))
        #expect(try !twice(32 * 1024 + 1))
    }

    /// RFC 9110 7.6.1; a client cannot remove what the gateway adds.
    @Test func fieldsOfTheConnectionDoNotPass() throws {
        let lines = try sent([
            "Connection: keep-alive, X-Private, X-Forwarded-For, Via", "X-Private: 1",
            "Keep-Alive: timeout=5",
            "Proxy-Authorization: Basic x", "Proxy-Connection: close", "TE: gzip", "Trailer: X",
            "Upgrade: websocket", "HTTP2-Settings: AAA", "X-Public: 1",
        ])
        #expect(lines.filter { $0.hasPrefix("X-P") } == ["X-Public: 1"])
        #expect(lines.count == 6)
        #expect(lines.contains { $0.hasPrefix("Via: 1.1 tributary-") })
        #expect(lines.contains { $0.hasPrefix("X-Forwarded-For: ") })
    }

    @Test func clientCannotForgeItsAddress() throws {
        let lines = try sent([
            "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Port: 1", "Forwarded: for=1.2.3.4",
            "Client-Cert: :AAAA:",
        ])
        #expect(lines.count == 5)
        #expect(!lines.contains { $0.contains("1.2.3.4") || $0.contains("AAAA") })
    }

    @Test func trustedProxyIsContinued() throws {
        let lines = try sent(
            ["X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https", "X-Forwarded-Port: 443"],
            top: "clients: { trusted_proxies: [0.0.0.0/0] }")
        #expect(lines.contains("X-Forwarded-Proto: https"))
        #expect(lines.contains("X-Forwarded-Port: 443"))
        #expect(lines.contains { $0.hasPrefix("X-Forwarded-For: 1.2.3.4, ") })
    }

    /// Trusted proxies pass on the other family as the client sent it.
    @Test(arguments: ["off", "x", "rfc7239", "both"])
    func onlyTheFamilyThatProxiesMaintainPasses(_ kind: String) throws {
        func sent(from source: String) throws -> [String] {
            try self.sent(
                [
                    "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: ftp", "X-Forwarded-Host: xh",
                    "x-forwarded-port: 99", "Forwarded: for=5.6.7.8;proto=gopher;host=fh",
                ],
                proxy: "to: a, forwarded: \(kind)",
                top: "clients: { trusted_proxies: [0.0.0.0/0], address_from: \(source) }")
        }
        func contain(_ lines: [String], _ texts: [String]) -> Bool {
            lines.contains { line in texts.contains { line.contains($0) } }
        }
        let x = try sent(from: "x_forwarded_for")
        #expect(contain(x, ["1.2.3.4"]) && contain(x, ["port: 99"]))
        #expect(!contain(x, ["5.6.7.8", "gopher", "fh"]))
        let forwarded = try sent(from: "forwarded")
        #expect(contain(forwarded, ["5.6.7.8"]))
        #expect(!contain(forwarded, ["1.2.3.4", "ftp", "xh", "99"]))
    }

    @Test(arguments: [
        ("off", []), ("rfc7239", ["Forwarded"]),
        ("x", ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"]),
        ("both", ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"]),
    ])
    func forwardedHeadersAreChosen(_ kind: String, _ names: [String]) throws {
        let lines = try sent(["Forwarded: for=1.2.3.4"], proxy: "to: a, forwarded: \(kind)")
        let found = lines.filter { $0.hasPrefix("X-Forwarded") || $0.hasPrefix("Forwarded") }
        #expect(found.map { String($0.prefix { $0 != ":" }) } == names)
        #expect(!found.contains { $0.contains("1.2.3.4") })
    }

    @Test func viaIsAppended() throws {
        for endpoint in ["", "forward: { headers: [X-A] }"] {
            let lines = try sent(["Via: 1.0 other"], endpoint: endpoint)
                .filter { $0.hasPrefix("Via") }
            #expect(lines.count == 2 && lines.first == "Via: 1.0 other")
            #expect(lines.last?.wholeMatch(of: /Via: 1\.1 tributary-[0-9a-f]{16}/) != nil)
        }
    }

    // MARK: Names with underscores

    /// CGI, WSGI, Rack and PHP take `_` for `-`.
    private static let aliases = [
        "X_User", "x_user", "X_Dropped", "X-Set_By-Backend", "X_Set_By_Backend", "Client_Cert",
        "Client_Cert_Chain", "X_Forwarded_For", "X_Forwarded-Proto", "X_Request_Id",
        "Gateway_Deadline_Ms",
        "Keep_Alive", "Transfer_Encoding", "Content_Length", "Content_Type", "Proxy_Authorization",
        "Proxy", "X_Api_Key", "X_Tenant", "X~User", "Proxy_Connection", "User_Agent", "X_Plan",
        "X.User", "X.Set-By_Backend", "X-Written.With-Underscore", "X-Written-With-Underscore",
    ]

    private func passed(_ names: [String], _ proxy: String = "") throws -> [String] {
        let harness = try ProxyHarness(
            "to: a, client_cert: off, drop_headers: [X-Dropped], headers: { X-User: none }\(proxy)",
            endpoint: """
                auth: k
                params:
                  X-Tenant: { type: string, in: header }
                  X_Written_With_Underscore: { type: string, in: header, required: false }
                rate_limits: [plans]
                """,
            backend: "headers: { X-Set-By-Backend: '1' }",
            top: """
                auth: { k: { api_key: { keys: keys.yaml } } }
                rate_limits: { plans: { rate: 9/s, key: "{request.header.X-Plan}" } }
                """, files: ["keys.yaml": Keys.entry("ann", "key")])
        try harness.send(
            request("GET", "/x/a", ["X-Api-Key: key"] + names.map { "\($0): forged" }))
        let lines = harness.received.components(separatedBy: "\r\n")
        harness.expectQuiet()
        #expect(!lines[0].isEmpty)
        return lines.filter { $0.hasSuffix(": forged") }.map { String($0.prefix { $0 != ":" }) }
    }

    @Test func otherSpellingsOfProtectedNamesNeverPass() throws {
        #expect(try passed(Self.aliases) == [])
        #expect(try passed(Self.aliases, ", underscores: pass") == [])
        // The positive control: what is not protected passes, with the key also with `_`.
        #expect(try passed(["X-Other", "X_Other", "X.Other"]) == ["X-Other", "X.Other"])
        #expect(
            try passed(["X-Other", "X_Other"], ", underscores: pass") == ["X-Other", "X_Other"])
    }

    /// A backend that checks the credential again must read the same one.
    @Test func otherSpellingsOfPassedCredentialsDoNotPass() throws {
        let names = ["X_Api_Key", "X.Api.Key", "X_Other"]
        #expect(try passed(names, ", underscores: pass, credential: pass") == ["X_Other"])
    }

    @Test func listedNamesWithUnderscoresPass() throws {
        let lines = try sent(
            ["X_A: 1", "X-A: 2", "X_B: 3"], endpoint: "forward: { headers: [X_A] }")
        #expect(lines.filter { $0.hasPrefix("X_") || $0.hasPrefix("X-A") } == ["X_A: 1"])
    }

    /// A trusted proxy passes on what its clients send.
    @Test func trustedProxiesDoNotVouchForUnderscores() throws {
        let lines = try sent(
            ["X_Forwarded_For: 6.6.6.6", "Client_Cert: :AAAA:", "X-Forwarded-For: 1.2.3.4"],
            proxy: "to: a, underscores: pass", top: "clients: { trusted_proxies: [0.0.0.0/0] }")
        #expect(!lines.contains { $0.contains("_") })
        #expect(lines.contains { $0.hasPrefix("X-Forwarded-For: 1.2.3.4, ") })
    }

    @Test func hostIsChosen() throws {
        #expect(try sent([]).first == "Host: 127.0.0.1:7001")
        #expect(try sent([], proxy: "to: a, host: client").first == "Host: gateway")
        #expect(try sent([], proxy: "to: a, host: shop.example").first == "Host: shop.example")
    }

    @Test func configuredHeadersReplaceThoseOfTheClient() throws {
        let lines = try sent(
            ["X-A: client", "X-B: client", "X-C: client", "X-D: client", "X-E: client"],
            proxy:
                "to: a, headers: { X-A: proxy, X-C: \"{request.header.X-D}\" }, drop_headers: [X-D]",
            endpoint: "headers: { X-A: endpoint, X-B: endpoint }",
            backend: "headers: { X-E: backend }")
        let own = lines.filter { $0.hasPrefix("X-") && !$0.hasPrefix("X-Forwarded") }
        #expect(own.sorted() == ["X-A: proxy", "X-B: endpoint", "X-C: client", "X-E: backend"])
    }

    @Test func headerWithoutAValueIsLeftOut() throws {
        let lines = try sent(
            ["X-A: client"], proxy: "to: a, headers: { X-A: \"{request.header.X-B}\" }")
        #expect(lines.count == 5 && !lines.contains { $0.hasPrefix("X-A") })
    }

    @Test func joinedListInAHeaderHasNoValueWithAComma() throws {
        let proxy = "to: a, headers: { X-A: \"{request.header.X-B,}\" }"
        #expect(try sent(["X-B: b"], proxy: proxy).contains("X-A: b"))
        #expect(try !sent(["X-B: b,c"], proxy: proxy).contains { $0.hasPrefix("X-A") })
    }

    @Test func forwardRestrictsFieldsAndQuery() throws {
        let harness = try ProxyHarness(endpoint: "forward: { headers: [X-A], query: [b, a] }")
        try harness.send(
            request(
                "POST", "/x/a?a=%41&c=1&b&a=2",
                ["X-A: 1", "X-B: 2", "Content-Type: text/plain", "Content-Length: 1"])
                + "x")
        #expect(harness.received.hasPrefix("POST /x/a?a=%41&b&a=2 HTTP/1.1\r\n"))
        #expect(harness.received.contains("X-A: 1\r\n") && !harness.received.contains("X-B"))
        #expect(harness.received.contains("Content-Type: text/plain\r\n"))
        // For servers that split at semicolons, another parameter would follow.
        try harness.send(get("/x/a?a=1;c=2&c=3"))
        #expect(harness.received.contains("GET /x/a?a=1%3Bc=2 HTTP/1.1\r\n"))
        harness.expectQuiet()
    }

    /// A backend that took `user[]` for `user` would use a value that the gateway has not read.
    @Test(arguments: [
        ("rate_limits: [users]", "user=ann&user[]=ben&a=1", "user=ann&a=1"),
        ("rate_limits: [users]", "us%65r=ann&User=ben&a=1", "us%65r=ann&a=1"),
        ("rate_limits: [users]", "user=ann;user=ben", "user=ann%3Buser=ben"),
        ("rate_limits: [users]", "a;user=ben&b", "b"),
        ("rate_limits: [users]", "USER=ben", ""),
        ("params: { user: { in: query, one_of: [ann] } }", "user=ann&[user]=ben", "user=ann"),
        ("headers: { X-User: \"{request.query.user}\" }", "user=ann&user%00=ben", "user=ann"),
        ("forward: { query: all }\nrate_limits: [users]", "user.=ben&user+=ben", "user.=ben"),
        ("rate_limits: [users]", "a&&b;c=1&users=2&", "a&&b;c=1&users=2&"),
        ("", "user=ann&user[]=ben;user=cid&&", "user=ann&user[]=ben;user=cid&&"),
    ])
    func queryHasNoOtherSpellingOfANameThatTheGatewayReads(
        _ endpoint: String, _ query: String, _ expected: String
    ) throws {
        let harness = try ProxyHarness(
            endpoint: endpoint,
            top: "rate_limits: { users: { rate: 9/s, key: \"{request.query.user}\" } }")
        try harness.send(get("/x/a?\(query)"))
        let target = expected.isEmpty ? "/x/a" : "/x/a?\(expected)"
        #expect(harness.received.hasPrefix("GET \(target) HTTP/1.1\r\n"))
        harness.expectQuiet()
    }

    // MARK: Responses

    private func received(
        _ lines: [String], endpoint: String = "", top: String = ""
    ) throws -> [String] {
        let harness = try ProxyHarness(endpoint: endpoint, top: top)
        let client = try harness.send(get("/x/a", "Origin: https://shop.example"))
        try harness.respond(
            "HTTP/1.1 200 OK\r\n" + (lines + ["Content-Length: 0"]).joined(separator: "\r\n")
                + "\r\n\r\n")
        let head = client.text.components(separatedBy: "\r\n\r\n").first ?? ""
        harness.expectQuiet()
        return head.components(separatedBy: "\r\n").dropFirst().filter {
            !$0.hasPrefix("X-Request-Id: ")
        }
    }

    @Test func fieldsOfTheBackendPassUnchanged() throws {
        let lines = try received([
            "Date: Sun, 06 Nov 1994 08:49:37 GMT", "Server: other", "Set-Cookie: a=1",
            "Set-Cookie: b=2",
            "Content-Encoding: gzip", "ETag: \"1\"", "X-Request-Id: other", "Connection: X-Hop",
            "X-Hop: 1", "Proxy-Authenticate: Basic", "Keep-Alive: timeout=1",
        ])
        #expect(
            lines == [
                "Date: Sun, 06 Nov 1994 08:49:37 GMT", "Server: other", "Set-Cookie: a=1",
                "Set-Cookie: b=2",
                "Content-Encoding: gzip", "ETag: \"1\"", "X-Content-Type-Options: nosniff",
                "Content-Length: 0",
            ])
    }

    @Test func gatewayStatesTheDateOfAResponseWithoutOne() throws {
        #expect(try received(["Server: other"]).first?.hasPrefix("Date: ") == true)
    }

    @Test func headersOfTheGatewayReplaceThoseOfTheBackend() throws {
        let lines = try received(
            [
                "X-A: backend", "X-Content-Type-Options: other", "Access-Control-Allow-Origin: *",
                "Vary: Accept",
            ],
            endpoint:
                "response_headers: { X-A: gateway }\ncors: { origins: [\"https://shop.example\"] }")
        #expect(lines.filter { $0.hasPrefix("X-A") } == ["X-A: gateway"])
        #expect(lines.filter { $0.hasPrefix("X-Content") } == ["X-Content-Type-Options: nosniff"])
        #expect(
            lines.filter { $0.hasPrefix("Access-Control-Allow-Origin") }
                == ["Access-Control-Allow-Origin: https://shop.example"])
        #expect(lines.filter { $0.hasPrefix("Vary") } == ["Vary: Accept", "Vary: Origin"])
    }

    @Test(arguments: ["HEAD", "GET"]) func lengthOfAResponseWithoutABodyPasses(_ method: String)
        throws
    {
        let harness = try ProxyHarness()
        let client = try harness.send(request(method, "/x/a"))
        let status = method == "HEAD" ? "200 OK" : "304 Not Modified"
        try harness.respond("HTTP/1.1 \(status)\r\nContent-Length: 1234\r\nETag: \"a\"\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 \(status)\r\n"))
        #expect(
            client.text.contains("Content-Length: 1234\r\n") && client.text.hasSuffix("\r\n\r\n"))
        client.send(get("/x/b"))
        harness.pass(1)
        #expect(harness.received.contains("GET /x/b "))
        harness.expectQuiet()
    }

    @Test func rangesPass() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(get("/x/a", "Range: bytes=2-4", "If-Range: \"a\""))
        #expect(harness.received.contains("Range: bytes=2-4\r\nIf-Range: \"a\"\r\n"))
        try harness.respond(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 2-4/10\r\nContent-Length: 3\r\n\r\nllo"
        )
        #expect(client.text.contains("Content-Range: bytes 2-4/10\r\n"))
        #expect(bodyPart(client.text) == "llo")
        harness.expectQuiet()
    }
}
