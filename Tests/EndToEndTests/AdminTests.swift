import Foundation
import Testing

extension EndToEnd {
    @Suite struct AdminTests {
        private let backend: Backend
        private let folder: Folder

        init() throws {
            backend = try Backend()
            folder = try Folder()
        }

        @Test func respondsToProbes() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            let liveness = try daemon.requestAdmin("GET /livez")
            #expect(liveness.status == 200 && liveness.body == "alive\n")
            let readiness = try daemon.requestAdmin("GET /readyz")
            #expect(readiness.status == 200 && readiness.body == "ready\n")
        }

        @Test(arguments: [("POST /livez", 405), ("DELETE /metrics", 405), ("GET /nowhere", 404)])
        func refusesUnknownPathsAndMethods(_ request: String, _ status: Int) throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            let response = try daemon.requestAdmin(request)
            #expect(response.status == status)
            #expect((response["Allow"] == "GET, HEAD") == (status == 405))
        }

        /// A web page in the operator's browser, by DNS rebinding or across sites.
        @Test func refusesForeignPages() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            for page in [
                "GET /metrics", "GET /-/requests", "GET /requests", "POST /-/reload",
                "GET /nowhere",
            ] {
                #expect(try daemon.requestAdmin(page, host: "evil.example").status == 421)
            }
            #expect(try daemon.requestAdmin("GET /readyz", host: "evil.example").status == 200)
            for field in ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site"] {
                #expect(try daemon.requestAdmin("POST /-/reload", [field]).status == 403)
            }
            #expect(try daemon.requestAdmin("GET /metrics", ["Origin: null"]).status == 403)
            #expect(
                try daemon.metric(#"tributary_config_reloads_total{result="succeeded"}"#) == "0")
            #expect(try daemon.requestAdmin("POST /-/reload").status == 200)
        }

        @Test func acceptsConfiguredHosts() throws {
            try folder.write(
                "gateway.yaml",
                Daemon.complete(plain(backend)).replacing(
                    "admin: 127.0.0.1:0",
                    with: "admin: { address: 127.0.0.1:0, hosts: [ops.example.com] }"))
            let daemon = try Daemon(["serve", folder.path("gateway.yaml")])
            try daemon.awaitListening()
            #expect(try daemon.requestAdmin("GET /metrics", host: "ops.example.com").status == 200)
            #expect(try daemon.requestAdmin("GET /metrics", host: "example.com").status == 421)
        }

        @Test func pagesNeedTheToken() throws {
            try folder.write("token", "end-to-end-0123456789\n")
            try folder.write(
                "gateway.yaml",
                Daemon.complete(plain(backend)).replacing(
                    "admin: 127.0.0.1:0",
                    with: "admin: { address: 127.0.0.1:0, token: \"${file:token}\" }"))
            let daemon = try Daemon(["serve", folder.path("gateway.yaml")])
            try daemon.awaitListening()
            for page in ["GET /metrics", "POST /-/reload", "GET /nowhere"] {
                let response = try daemon.requestAdmin(page)
                #expect(response.status == 401 && response["WWW-Authenticate"] == "Bearer")
            }
            let credentials = ["Authorization: Bearer end-to-end-0123456789"]
            #expect(try daemon.requestAdmin("GET /metrics", credentials).status == 200)
            #expect(try daemon.requestAdmin("POST /-/reload", credentials).status == 200)
            #expect(try daemon.requestAdmin("GET /readyz").status == 200)
            let health = try Command.run("health", environment: ["TRIBUTARY_ADMIN": daemon.admin])
            #expect(health.status == 0)
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
            #expect(try !daemon.output.whole().contains("end-to-end-0123456789"))
        }

        @Test func refusesSecondReloadWithinASecond() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            #expect(try daemon.requestAdmin("POST /-/reload").status == 200)
            let second = try daemon.requestAdmin("POST /-/reload")
            #expect(second.status == 429)
            #expect(second["Retry-After"] == "1")
            // Signals are not limited.
            daemon.signal(SIGHUP)
            try daemon.logLine("configuration reloaded", number: 2)
        }

        @Test func hasNoAdminPagesOnTheClientAddress() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            #expect(try daemon.request("GET /metrics").status == 404)
            #expect(try daemon.request("GET /readyz").status == 404)
        }

        @Test func showsRequestsInFlight() throws {
            let daemon = try Daemon.serving(
                plain(backend, route: "GET /slow/{id}", path: "/held"), in: folder)
            let client = try Client(daemon.address)
            try client.send("GET /slow/1", ["X-Request-Id: mine-1"])
            try backend.awaitHeld()

            let shown = try daemon.requests()
            #expect(shown.count == 1)
            #expect(shown.first?["id"] as? String == "mine-1")
            #expect(shown.first?["endpoint"] as? String == "GET /slow/{id}")
            #expect(try #require(shown.first?["age_ms"] as? Int) >= 0)
            #expect(shown.first?["waits_for"] as? String == "calls")
            let calls = try #require(shown.first?["calls"] as? [[String: Any]])
            #expect(calls.first?["waits_for"] as? String == "response")
            #expect((calls.first?["host"] as? String).map { "http://" + $0 } == backend.url)
            #expect(try daemon.metric("tributary_requests_in_flight") == "1")

            backend.release()
            #expect(try client.readResponse().status == 200)
            #expect(try daemon.requests().isEmpty)
        }

        /// An age would reveal the time that `min_duration` hides.
        @Test func hidesAgeOfPaddedEndpoint() throws {
            let daemon = try Daemon.serving(
                plain(backend, path: "/held").replacing(
                    "    calls:", with: "    deadline: 10s\n    min_duration: 11s\n    calls:"),
                in: folder)
            let client = try Client(daemon.address)
            try client.send("GET /plain", ["X-Request-Id: mine-2"])
            try backend.awaitHeld()
            let shown = try #require(try daemon.requests().first)
            #expect(shown["id"] as? String == "mine-2" && shown["age_ms"] == nil)
            backend.release()
        }

        // MARK: Metrics

        @Test func metricsHaveTheExpositionFormat() throws {
            let backend = try Backend()
            let daemon = try Daemon.serving("workers: 2\n" + plain(backend), in: folder)
            for request in ["GET /plain", "GET /nowhere", "DELETE /plain"] {
                _ = try daemon.request(request)
            }
            let response = try daemon.requestAdmin("GET /metrics")
            #expect(response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            let page = try Exposition(response.body)
            #expect(page.value("tributary_workers") == 2)
            #expect(
                page.value("tributary_requests_total", ["endpoint": "GET /plain", "status": "200"])
                    == 1)
            #expect(page.value("tributary_requests_total", ["endpoint": "", "status": "404"]) == 1)
            #expect(
                page.value(
                    "tributary_request_duration_seconds_count", ["endpoint": "GET /plain"]) == 1)
            #expect(
                page.value(
                    "tributary_request_duration_seconds_bucket",
                    [
                        "endpoint": "GET /plain", "le": "+Inf",
                    ]) == 1)
            #expect(page.value("tributary_config_reloads_total", ["result": "failed"]) == 0)
        }

        // MARK: tributary health

        @Test func healthRequestsReadiness() throws {
            let daemon = try Daemon.serving(
                "drain: { delay: 60s }\n" + plain(backend), in: folder)
            let environment = ["TRIBUTARY_ADMIN": daemon.admin]
            #expect(try Command.run("health", environment: environment).status == 0)
            #expect(try Command.run("health", "http://\(daemon.admin)/readyz").status == 0)

            daemon.signal(SIGTERM)
            try daemon.logLine("draining")
            let result = try Command.run("health", environment: environment)
            #expect(
                result
                    == Command.Result(
                        status: 1, errors: "tributary: http://\(daemon.admin)/readyz: 503\n"))
        }

        /// An empty variable counts as one that is not set.
        @Test func healthUsesTheAddressOfTheDemo() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            let environment = ["TRIBUTARY_ADMIN": "", "ADMIN": daemon.admin]
            #expect(try Command.run("health", environment: environment).status == 0)
        }

        @Test func healthRequestsReadinessOverAUnixSocket() throws {
            let daemon = try Daemon.servingUnix(plain(backend), in: folder)
            let environment = ["ADMIN": daemon.admin]
            #expect(try Command.run("health", environment: environment).status == 0)
            #expect(try Command.run("health", daemon.admin).status == 0)
            #expect(
                try Command.run("health", "unix:/none")
                    == Command.Result(status: 1, errors: "tributary: unix:/none: no response\n"))
        }

        @Test func healthFailsWithoutAGateway() throws {
            let address = "127.0.0.1:\(try Socket(listeningOn: 0).port)"
            let result = try Command.run("health", environment: ["TRIBUTARY_ADMIN": address])
            #expect(
                result
                    == Command.Result(
                        status: 1, errors: "tributary: http://\(address)/readyz: no response\n"))
        }
    }
}

extension Daemon {
    /// The requests in /-/requests.
    fileprivate func requests() throws -> [[String: Any]] {
        let body = try requestAdmin("GET /-/requests").body
        let json = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        return try #require(json?["requests"] as? [[String: Any]])
    }
}
