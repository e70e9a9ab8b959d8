import Assembly
import Basics
import HTTP
import Reactor
import SimReactor
import TestCertificates
import TestSupport
import Testing
import WorkerSupport

/// The recipes of `docs/guide/cookbook.md`: each configuration gives the response that the page shows,
/// keeps its promise, and refuses what it says that it refuses.
@Suite(.watched) struct CookbookTests {
    private static let loopback = IPAddress.v4(0x7F00_0001)

    private func reason(_ response: ReceivedResponse) -> String? {
        response.body.firstMatch(of: /"reason":"(\w+)"/).map { String($0.1) }
    }

    @Test func productPageToleratesSlowAndFailingParts() throws {
        let recipe = try Recipe("product-page")
        let harness = try GatewayHarness(config: recipe.config)
        harness.on("/items/42", .ok(#"{"id":42,"name":"Lamp","price":19.90}"#))
        harness.on("/levels/42", .ok(#"{"available":7,"internal_cost":3}"#))
        let reviews = Reply.ok(#"{"items":[{"stars":5},{"stars":4}],"total":2}"#)
        harness.on("/by-item/42", .hangs, reviews)
        let hedged = try harness.fetch(recipe.request())
        #expect(hedged.summary == "200 at 120 \(recipe.shown)")
        #expect(hedged["Gateway-Complete"] == "true")

        harness.on("/levels/42", .status(500))
        harness.on("/by-item/42", .hangs)
        let partial = try harness.fetch(recipe.request())
        #expect(partial.outcome == "200 at 300" && partial["Gateway-Complete"] == "false")
        #expect(partial.body.contains(#""stock":{"available":null},"reviews":[]"#))

        harness.on("/items/42", .status(404))
        #expect(try harness.fetch(recipe.request()).status == 404)
        #expect(try harness.fetch(get("/products/lamp")).status == 400)
        harness.expectQuiet()
    }

    @Test func shapedResponsesHaveTheClientsFormat() throws {
        let recipe = try Recipe("shaped")
        let harness = try GatewayHarness(config: recipe.config)
        let order = Reply.ok(#"{"id":7,"user_id":3,"summary":{"total":19.90}}"#)
        harness.on("/orders", order, order)
        harness.on("/users/3", .ok(#"{"first_name":"Ann","avatar":null,"born":1990}"#))
        let response = try harness.fetch(recipe.request())
        #expect(response.status == 201 && response.body == recipe.shown)
        #expect(response["Location"] == "/orders/7")

        harness.on("/users/3", .status(500))
        let partial = try harness.fetch(recipe.request())
        #expect(partial.status == 201)
        #expect(
            partial.body.hasPrefix(
                #"{"order":{"id":7,"userId":3,"user":null},"currency":"EUR","total":19.90,"_gateway""#
            ))

        harness.on("/en?page=1", .ok(#"{"items":[1,2]}"#, after: 20))
        harness.on("/de?page=1", .ok(#"{"items":[3]}"#))
        #expect(try harness.fetch(get("/news")).body == #"{"news":[1,2,3]}"#)
        let redirect = try harness.fetch(get("/v1/orders/7"))
        #expect(redirect.status == 308 && redirect["Location"] == "/orders/7")
        #expect(try harness.fetch(get("/robots.txt")).body.hasPrefix("User-agent: *\n"))
        harness.expectQuiet()
    }

    @Test func listsAreJoinedByElementAndByBatch() throws {
        let recipe = try Recipe("lists")
        let harness = try GatewayHarness(config: recipe.config)
        let orders = Reply.ok(#"{"items":[{"sku":"A1"},{"sku":"B2"}],"next":null}"#)
        harness.on("/orders?customer=7", orders, orders)
        harness.on("/levels?sku=A1,B2", .ok(#"{"levels":[{"sku":"A1","available":7}]}"#))
        harness.on("/items/A1", .ok(#"{"name":"Lamp","price":19.90,"cost":3}"#))
        harness.on("/items/B2", .ok(#"{"name":"Desk","price":89.00}"#), .status(500))
        let response = try harness.fetch(recipe.request())
        #expect(response.status == 200 && response.body == recipe.shown)
        #expect(try harness.fetch(recipe.request()).status == 502, "a half of them is not enough")

        harness.on("/items/1", .ok("1"))
        harness.on("/items/2", .status(404))
        let products = post(#"{"ids":[1,2,1]}"#, to: "/products")
        let list = try harness.fetch(products)
        #expect(list.body.hasPrefix(#"{"products":[1,1],"_gateway""#))
        let ids = (0..<20).map(String.init).joined(separator: ",")
        let many = post(#"{"ids":[\#(ids)]}"#, to: "/products")
        for _ in 0..<29 { #expect(try harness.fetch(many).status != 429) }
        #expect(try harness.fetch(many).status == 429, "3 + 29 * 20 of 600 elements are used")
        let tooMany = post(#"{"ids":[\#(ids),20]}"#, to: "/products")
        #expect(try harness.fetch(tooMany).status == 400)
        harness.expectQuiet()
    }

    @Test func sitesShareOneProcess() throws {
        let recipe = try Recipe("sites")
        let harness = try GatewayHarness(config: recipe.config)
        let item = Reply.ok(#"{"id":42,"name":"Lamp","price":19.90}"#)
        harness.on("/items/42", item, item)
        let product = "http://shop.example.com/products/42"
        let response = try harness.fetch(get(product))
        #expect(response.status == 200 && response.body == recipe.shown)
        _ = try harness.fetch(get(product, "X-Canary: 1"))
        #expect(harness.seen.map(\.port) == [7001, 7002])
        let redirect = try harness.fetch(get("http://shop.example.com/products/42.json"))
        #expect(redirect["Location"] == "/products/42")
        #expect(try harness.fetch(get("http://other.example.com/products/42")).status == 404)

        harness.on(
            "/login", .status(302, "", "Location: /start", "Set-Cookie: s=1; Path=/"))
        for host in ["shop.example.com", "docs.example.org"] {
            let login = try harness.fetch(get("http://\(host)/wiki/login"))
            #expect(login["Location"] == "/wiki/start")
            #expect(login["Set-Cookie"] == "s=1; Path=/wiki/")
        }
        #expect(try harness.fetch(get("http://docs.example.org/"))["Location"] == "/wiki/")
        let removal = request("DELETE", "/products/42", [])
        #expect(try harness.fetch(removal).status == 404)
        #expect(try harness.fetchFromUnixSocket(removal, listener: 1).status == 200)
        #expect(harness.seen.last?.target == "/items/42")
        harness.expectQuiet()
    }

    @Test func pageLeavesInParts() throws {
        let recipe = try Recipe("parts")
        let harness = try GatewayHarness(config: recipe.config)
        harness.on("/items/42", .ok(#"{"id":42,"name":"Lamp"}"#, after: 5), .status(404))
        harness.on("/levels/42", .ok(#"{"available":7}"#, after: 20))
        harness.on("/by-item/42", .ok("[5,4]", after: 2_000))
        let client = ScriptedPeer(try harness.stream())
        client.send(try recipe.request())
        harness.pass(2_500)
        let lines = client.text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("{") }
        #expect(
            lines.map(String.init) == [
                recipe.shown, #"{"part":"stock","value":{"available":7}}"#,
                #"{"part":"title","value":"Lamp, 7 left"}"#,
                #"{"part":"reviews","value":[5,4]}"#, #"{"end":true,"complete":true}"#,
            ])
        client.stream.close()
        #expect(try harness.fetch(recipe.request()).status == 404)
        harness.expectQuiet()
    }

    @Test func loginAndProfileVerifiesTokensAndPassesClaims() throws {
        let recipe = try Recipe("login-and-profile")
        let harness = try GatewayHarness(config: recipe.config)
        let path = "/realms/shop/protocol/openid-connect"
        harness.on("\(path)/certs", .ok(TestIssuer.keys("k1")))
        harness.on("/users/ann", .ok(#"{"id":"ann","name":"Ann"}"#))
        harness.on("/orders?user=ann", .ok(#"[{"id":7}]"#))
        let claims = [
            "iss": #""https://id.example.com/realms/shop""#,
            "realm_access": #"{"roles":["gold","staff"]}"#,
        ]
        let response = try harness.fetch(
            recipe.request(["TOKEN": TestIssuer.token(claims)], "X-User: root"))
        #expect(response.status == 200 && response.body == recipe.shown)
        for path in ["/users/ann", "/orders"] {
            let seen = try #require(harness.seen.first { $0.path == path })
            #expect(seen["X-User"] == "ann" && seen["X-Roles"] == "gold,staff")
        }

        let before = harness.seen.count
        #expect(try reason(harness.fetch(get("/profile"))) == "missing")
        for token in [
            TestIssuer.token(claims, by: "k2"), TestIssuer.token(),
            TestIssuer.token(claims.merging(["aud": "\"other\""]) { $1 }),
        ] {
            let refused = try harness.fetch(recipe.request(["TOKEN": token]))
            #expect(refused.status == 401 && reason(refused) == "untrusted")
        }
        #expect(harness.seen.dropFirst(before).allSatisfy { $0.path == "\(path)/certs" })

        let form = "Content-Type: application/x-www-form-urlencoded"
        for _ in 0..<10 {
            #expect(
                try harness.fetch(post("grant_type=password", to: "/login", form)).status == 200)
        }
        #expect(harness.seen.last?.target == "\(path)/token")
        #expect(harness.seen.last?.body == "grant_type=password")
        #expect(try harness.fetch(post("grant_type=password", to: "/login", form)).status == 429)
        harness.pass(60_000)
        let json = try harness.fetch(post("{}", to: "/login", "Content-Type: application/json"))
        #expect(json.status == 415)
        harness.expectQuiet()
    }

    @Test func singlePageAppServesItsOriginUploadsAndAWebSocket() throws {
        let recipe = try Recipe("single-page-app")
        let harness = try GatewayHarness(config: recipe.config)
        harness.on("/me", .ok(#"{"name":"Ann"}"#))
        harness.on("/news", .ok(#"[{"title":"Sale"}]"#))
        let response = try harness.fetch(recipe.request(["TOKEN": "t"]))
        #expect(response.status == 200 && response.body == recipe.shown)
        #expect(response["Access-Control-Allow-Origin"] == "https://app.example.com")
        #expect(harness.seen.first { $0.path == "/me" }?["Authorization"] == "Bearer t")
        #expect(harness.seen.first { $0.path == "/news" }?["Authorization"] == nil)
        #expect(try harness.fetch(get("/api/orders/7?page=2")).body == #""/orders/7?page=2""#)

        func preflight(_ origin: String) throws -> ReceivedResponse {
            try harness.fetch(
                request(
                    "OPTIONS", "/uploads/a.png",
                    ["Origin: \(origin)", "Access-Control-Request-Method: POST"]))
        }
        let allowed = try preflight("https://app.example.com")
        #expect(allowed["Access-Control-Allow-Methods"] == "POST")
        #expect(allowed["Access-Control-Allow-Credentials"] == "true")
        let other = try preflight("https://evil.example")
        #expect(other.status == 204 && other["Access-Control-Allow-Origin"] == nil)

        let image = "Content-Type: image/png"
        #expect(try harness.fetch(post("PNG", to: "/uploads/a.png", image)).status == 200)
        #expect(harness.seen.last?.target == "/files/a.png" && harness.seen.last?.body == "PNG")
        let page = try harness.fetch(post("<p>", to: "/uploads/a.png", "Content-Type: text/html"))
        #expect(page.status == 415)
        let large = request("POST", "/uploads/a.png", [image, "Content-Length: 52428801"])
        #expect(try harness.fetch(large).status == 413)

        harness.on(
            "/live",
            .raw(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Accept: def\r\n\r\n"))
        let client = ScriptedPeer(try harness.stream())
        client.send(
            get(
                "/live", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: abc",
                "Origin: https://app.example.com"))
        harness.pass(1)
        #expect(client.text.hasPrefix("HTTP/1.1 101 "))
        #expect(harness.seen.last?["Origin"] == "https://app.example.com")
        client.clearReceived()
        let backend = try #require(harness.backend(7003)?.peers.last)
        client.send("ping")
        backend.send("pong")
        harness.pass(1)
        #expect(backend.text == "ping" && client.text == "pong")
        client.stream.close()
        harness.expectQuiet()
    }

    @Test func publicAPICountsEachKeyByItsPlan() throws {
        let recipe = try Recipe("public-api")
        let keys = Keys.entry("ann", "ann-key", "plan: pro") + Keys.entry("ben", "ben-key")
        let harness = try GatewayHarness(config: recipe.config, files: ["developers.yaml": keys])
        harness.on("/products/42", .ok(#"{"id":42,"name":"Lamp"}"#))
        harness.on("/status", .ok("{}"))
        let ben = ["KEY": "ben-key"]
        let response = try harness.fetch(recipe.request(ben))
        #expect(response.status == 200 && response.body == recipe.shown)
        #expect(try reason(harness.fetch(get("/v1/products/42"))) == "missing")
        #expect(try harness.fetch(recipe.request(["KEY": "no-key"])).status == 401)

        #expect(try harness.fetch(get("/v1/search?q=lamp", "X-Api-Key: ben-key")).status == 200)
        for _ in 0..<54 { #expect(try harness.fetch(recipe.request(ben)).status == 200) }
        let refused = try harness.fetch(recipe.request(ben))
        #expect(refused.status == 429 && refused["Retry-After"] == "1")
        #expect(refused.body.contains(#""violated-policies":["per_key"]"#))
        #expect(try harness.fetch(recipe.request(["KEY": "ann-key"])).status == 200)
        #expect(try harness.fetch(get("/v1/status")).status == 200)
        let unknown = try harness.fetch(get("/v1/search?q=lamp&x=1", "X-Api-Key: ann-key"))
        #expect(unknown.status == 400)
        harness.expectQuiet()
    }

    @Test func tlsServesPartnersWithACertificate() throws {
        let recipe = try Recipe("tls")
        let files = ["shop.pem": "server.pem", "shop.key": "server.key", "ca.pem": "authority.pem"]
        let harness = try GatewayHarness(
            config: recipe.config,
            files: files.mapValues { (try? Certificates.file($0)).map { String($0) } ?? "" })
        harness.on("/orders?partner=spiffe%3A%2F%2Fshop.test%2Fcart", .ok(#"[{"id":7}]"#))
        harness.on("/products/42", .ok("{}"))
        let partner = try harness.secureClient(as: "caller")
        partner.send(try recipe.request())
        let response = harness.response(of: partner)
        #expect(response.status == 200 && response.body == recipe.shown)
        #expect(response["Strict-Transport-Security"] == "max-age=31536000")

        let overHTTP2 = try ScriptedH2Client(
            ScriptedPeer(harness.secureStream(as: "caller", offering: .both)), on: harness.testbed)
        let stream = try overHTTP2.send(.get, "/orders")
        harness.pass(1)
        #expect(stream.responses.first?.status == .ok && stream.text == recipe.shown)
        overHTTP2.peer.stream.close()

        for (name, expected) in [(nil, "missing"), ("client", "untrusted")] as [(String?, String)] {
            let client = try harness.secureClient(as: name)
            client.send(try recipe.request())
            let refused = harness.response(of: client)
            #expect(refused.status == 401 && reason(refused) == expected)
            client.send(get("/products/42"))
            #expect(harness.response(of: client).status == 200)
        }

        let plain = SocketAddress.ip(Self.loopback, port: 8081)
        _ = try harness.instance?.listen(on: plain, as: 1, sharedPort: false)
        let browser = ScriptedClient(
            ScriptedPeer(try harness.testbed.connect(to: plain)), on: harness.testbed)
        browser.send(try recipe.request())
        let redirect = harness.response(of: browser)
        #expect(redirect.status == 308 && redirect["Location"] == "https://gateway:8443/orders")
        browser.leave()
        harness.expectQuiet()
    }

    @Test func convertedKrakenDFileKeepsSequenceAndLimit() throws {
        let recipe = try Recipe("krakend")
        let harness = try GatewayHarness(config: recipe.config)
        harness.network.names["users.internal"] = .addresses([Self.loopback])
        harness.on("/users/7", .ok(#"{"id":7,"segment":"gold","password_hash":"x"}"#))
        harness.on("/offers/gold", .ok(#"[{"id":1}]"#))
        let request = try recipe.request(["TOKEN": "t"])
        let response = try harness.fetch(request)
        #expect(response.status == 200 && response.body == recipe.shown)
        #expect(harness.seen.map { $0["Authorization"] } == ["Bearer t", "Bearer t"])

        harness.on("/offers/gold", .status(500))
        let partial = try harness.fetch(request)
        #expect(partial.body == #"{"user":{"id":7,"segment":"gold"}}"#)
        #expect(partial["Gateway-Complete"] == "false")
        harness.on("/users/7", .status(500))
        #expect(try harness.fetch(request).status == 502)
        for _ in 0..<7 { _ = try harness.fetch(request) }
        #expect(try harness.fetch(request).status == 429)
        harness.expectQuiet()
    }

    @Test func loadBalancerNamesTheClientAndFindsNoClosingConnection() throws {
        let recipe = try Recipe("load-balancer")
        let harness = try GatewayHarness(
            config: recipe.config, files: ["/run/secrets/admin-token": "0123456789abcdef"])
        harness.on("/products/42", .ok(#"{"id":42,"name":"Lamp"}"#))
        let response = try harness.fetch(recipe.request())
        #expect(response.status == 200 && response.body == recipe.shown)
        let seen = try #require(harness.seen.first { $0.path == "/products/42" })
        #expect(seen["X-Forwarded-For"] == "203.0.113.9, 127.0.0.1")

        for _ in 0..<19 { #expect(try harness.fetch(recipe.request()).status == 200) }
        #expect(try harness.fetch(recipe.request()).status == 429)
        let forged = get("/products/42", "X-Forwarded-For: 6.6.6.6, 203.0.113.9")
        #expect(try harness.fetch(forged).status == 429)
        let other = get("/products/42", "X-Forwarded-For: 203.0.113.10")
        let kept = try harness.send(other)
        #expect(harness.response(of: kept).status == 200)
        harness.pass(74_000)
        #expect(!kept.isClosed)
        harness.pass(2_000)
        #expect(kept.isClosed)

        harness.backend(7001)?.close()
        harness.pass(20_000)
        #expect(try harness.unavailableHosts(of: "shop") == 1)
        #expect(try harness.fetch(other).status == 200)
        harness.expectQuiet()
    }

    /// Probes and drain are in `KubernetesTests`, with a process.
    @Test func kubernetesTakesAddressesFromVariables() throws {
        let recipe = try Recipe("kubernetes")
        let secret = ["ADMIN_TOKEN": "0123456789abcdef"]
        let harness = try GatewayHarness(
            config: recipe.config,
            environment: secret.merging(["CATALOG_URL": "http://127.0.0.1:7003"]) { $1 })
        harness.on("/items/42", .ok(#"{"id":42}"#))
        harness.on("/levels/42", .ok(#"{"available":7}"#))
        let response = try harness.fetch(recipe.request())
        #expect(response.status == 200 && response.body == recipe.shown)
        #expect(harness.seen.map(\.port).sorted() == [7002, 7003])
        harness.expectQuiet()

        #expect(throws: GatewayHarness.Refused.self) { try GatewayHarness(config: recipe.config) }
    }

    @Test func constantTimeLoginAlwaysTakesTheSameTime() throws {
        let recipe = try Recipe("constant-time-login")
        let harness = try GatewayHarness(config: recipe.config)
        let success = Reply.ok(#"{"session":"s1"}"#, after: 20, "Set-Cookie: s=1")
        harness.on(
            "/sessions", success, .status(401, after: 3), .hangs, .closes(after: 50), success)
        let login = try recipe.request()
        let response = try harness.fetch(login)
        #expect(response.summary == "200 at 400 \(recipe.shown)")
        #expect(response["Set-Cookie"] == "s=1" && response["Cache-Control"] == "no-store")
        for status in [401, 504, 502, 200] {
            #expect(try harness.fetch(login).outcome == "\(status) at 400")
        }
        let sixth = try harness.fetch(login)
        #expect(sixth.outcome == "429 at 400" && sixth.body.contains("per_user"))
        #expect(harness.seen.count == 5)
        let other = login.replacing("\"ann\"", with: "\"bob\"")
        #expect(try harness.fetch(other).outcome == "200 at 400")
        let json = "Content-Type: application/json"
        #expect(try harness.fetch(post("{}", to: "/login", json)).outcome == "400 at 400")
        harness.expectQuiet()
    }

    @Test func partnerAPILimitsEachPartnerByItself() throws {
        let recipe = try Recipe("partner-api")
        let keys =
            Keys.entry("acme", "acme-key", "scopes: [\"orders:read\"]")
            + Keys.entry("bolt", "bolt-key", "scopes: [\"orders:read\", \"orders:write\"]")
        let harness = try GatewayHarness(config: recipe.config, files: ["partners.yaml": keys])
        harness.on("/orders/7", .ok(#"{"id":7,"amount":2}"#))
        harness.on("/orders/8", .ok("{}"))
        let acme = try recipe.request(["KEY": "acme-key"])
        let response = try harness.fetch(acme)
        #expect(response.status == 200 && response.body == recipe.shown)
        #expect(harness.seen.last?["X-Partner"] == "acme")
        #expect(harness.seen.last?["X-Api-Key"] == nil)

        for _ in 0..<9 { #expect(try harness.fetch(acme).status == 200) }
        let refused = try harness.fetch(acme)
        #expect(refused.status == 429)
        #expect(refused.body.contains(#""violated-policies":["per_second"]"#))
        #expect(try harness.fetch(recipe.request(["KEY": "bolt-key"])).status == 200)
        #expect(try harness.fetch(recipe.request(["KEY": "no-key"])).status == 401)

        harness.pass(1_000)
        func put(_ id: Int, _ key: String) throws -> ReceivedResponse {
            let body = #"{"amount":3}"#
            return try harness.fetch(
                request(
                    "PUT", "/orders/\(id)",
                    [
                        "X-Api-Key: \(key)", "Content-Type: application/json",
                        "Content-Length: \(body.utf8.count)",
                    ]) + body)
        }
        #expect(try reason(put(7, "acme-key")) == "scope")
        for _ in 0..<3 { #expect(try put(7, "bolt-key").status == 200) }
        #expect(harness.seen.last?.body == #"{"amount":3}"#)
        #expect(try put(7, "bolt-key").body.contains(#""violated-policies":["per_order"]"#))
        #expect(try put(8, "bolt-key").status == 200)
        harness.expectQuiet()
    }

    @Test func gRPCAndJSONShareOnePort() throws {
        let recipe = try Recipe("grpc")
        let harness = try GatewayHarness(config: recipe.config)
        harness.on("/orders/7", .ok(#"{"id":7,"amount":2}"#))
        let response = try harness.fetch(recipe.request())
        #expect(response.status == 200 && response.body == recipe.shown)

        var exchange: H2BackendExchange?
        let backend = try ScriptedH2Backend(
            on: harness.outside, at: .ip(Self.loopback, port: 50051)
        ) { exchange = $0 }
        let client = try ScriptedH2Client(ScriptedPeer(harness.stream()), on: harness.testbed)
        let call = try client.send(
            .post, "/shop.Orders/Get", ["content-type": "application/grpc", "te": "trailers"],
            endsStream: false)
        try client.send("request", on: call, ends: true)
        harness.pass(1)
        let received = try #require(exchange)
        #expect(received.path == "/shop.Orders/Get" && received.recorder.text == "request")
        received.begin(.ok, ["content-type": "application/grpc"])
        received.send("response")
        received.end(["grpc-status": "0"])
        harness.pass(1)
        #expect(call.text == "response" && call.trailers?["grpc-status"] == "0")

        let other = try client.send(.post, "/shop.Users/Get", ["content-type": "application/grpc"])
        let json = try client.send(.get, "/orders/7")
        harness.pass(1)
        #expect(other.responses.first?.status == .notFound)
        #expect(json.text == recipe.shown)
        client.peer.stream.close()
        harness.pass(1)
        backend.close()
        harness.expectQuiet()
    }

    @Test func eventsPassAtOnceAndSilentStreamsEnd() throws {
        let recipe = try Recipe("events")
        let harness = try GatewayHarness(config: recipe.config)
        harness.on(
            "/streams/orders",
            .raw(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n"))
        let client = ScriptedPeer(try harness.stream())
        client.send(try recipe.request([:], "Origin: https://app.example.com"))
        harness.pass(1)
        let backend = try #require(harness.backend()?.peers.last)
        #expect(client.text.contains("Access-Control-Allow-Origin: https://app.example.com\r\n"))
        func send(_ text: String) {
            client.clearReceived()
            backend.send("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n")
            harness.pass(0)
        }
        send("\(recipe.shown)\n\n")
        #expect(client.text.contains("\r\n\(recipe.shown)\n\n\r\n"))
        for _ in 0..<3 {
            harness.pass(40_000)
            send(": \n\n")
            #expect(!client.text.isEmpty)
        }
        #expect(!client.hasEnded)
        harness.pass(46_000)
        #expect(client.hasEnded || !client.failures.isEmpty)
        client.stream.close()

        #expect(try harness.fetch(get("/events/users")).status == 400)
        #expect(
            try harness.fetch(get("/orders", "Origin: https://evil.example")).lines
                .allSatisfy { !$0.hasPrefix("Access-Control-Allow-Origin") })
        harness.expectQuiet()
    }
}
