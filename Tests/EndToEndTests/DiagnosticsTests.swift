import Foundation
import Testing

extension EndToEnd {
    /// The diagnostic pages of a running daemon.
    @Suite struct DiagnosticsTests {
        private let backend: Backend
        private let folder: Folder

        init() throws {
            backend = try Backend()
            folder = try Folder()
        }

        private func object(_ daemon: Daemon, _ path: String) throws -> [String: Any] {
            let response = try daemon.requestAdmin("GET \(path)")
            #expect(response.status == 200 && response["Content-Type"] == "application/json")
            return try #require(
                try JSONSerialization.jsonObject(with: Data(response.body.utf8)) as? [String: Any])
        }

        @Test func explainsRequestsOfTheRunningConfiguration() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            let file = folder.path("gateway.yaml")
            // Nothing is masked in this configuration, so the page has the text of the command.
            let command = try Command.run("explain", file, "GET", "/plain?a=1")
            let page = try daemon.requestAdmin("GET /-/explain?method=GET&url=/plain%3Fa=1")
            #expect(page.status == 200 && page.body == command.output)
            #expect(page.body.contains("route"))
            let check = try Command.run("check", file)
            let plan = try daemon.requestAdmin("GET /-/plan").body
            let rest = check.output.dropFirst(plan.count)
            #expect(!plan.isEmpty && check.output.hasPrefix(plan))
            #expect(rest.hasPrefix("at most ") && rest.count { $0 == "\n" } == 1)

            try folder.write(
                "gateway.yaml", Daemon.complete(plain(backend, route: "GET /other")))
            #expect(
                try daemon.requestAdmin("GET /-/explain?url=/other").body
                    == "route     none: 404\n",
                "the running configuration, not the file")
            #expect(try daemon.eventuallyReloaded().status == 200)
            #expect(
                try daemon.requestAdmin("GET /-/explain?url=/other").body.contains("GET /other"))
        }

        @Test func showsTheLastReload() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            let start = try object(daemon, "/-/reload")
            #expect(start["last"] is NSNull)
            let running = try #require(start["running"] as? [String: Any])
            let digest = try #require(running["digest"] as? String)
            #expect((start["files"] as? [String: Any])?["digest"] as? String == digest)

            try folder.write("gateway.yaml", "version: 1\nendpoints: 7\n")
            #expect(try daemon.eventuallyReloaded().status == 422)
            let failed = try object(daemon, "/-/reload")
            let last = try #require(failed["last"] as? [String: Any])
            #expect(last["result"] as? String == "failed")
            let problems = try #require(last["problems"] as? [String])
            let check = try Command.run("check", folder.path("gateway.yaml"))
            #expect(!problems.isEmpty && problems.allSatisfy { check.errors.contains($0) })
            #expect((failed["files"] as? [String: Any])?["changed"] as? Bool == true)
            #expect((failed["running"] as? [String: Any])?["digest"] as? String == digest)

            try folder.write("gateway.yaml", Daemon.complete("workers: 7\n" + plain(backend)))
            #expect(try daemon.eventuallyReloaded().status == 200)
            let done = try object(daemon, "/-/reload")
            #expect((done["last"] as? [String: Any])?["result"] as? String == "succeeded")
            #expect(done["needs_restart"] as? [String] == ["workers"])
            #expect((done["running"] as? [String: Any])?["digest"] as? String != digest)
            #expect((done["files"] as? [String: Any])?["changed"] as? Bool == false)
            #expect(done["succeeded"] as? Int == 1 && done["failed"] as? Int == 1)
        }

        @Test func dumpHasNoSecret() throws {
            let secret = "end-to-end-s3cr3t-4711"
            try folder.write("secret", secret)
            let daemon = try Daemon.serving(
                """
                backends:
                  b: { url: "\(backend.url)", headers: { X-Key: "${file:secret}", X-Own: \(secret) } }
                endpoints:
                  - route: GET /plain
                    calls:
                      one: { from: b, get: "/now?key=\(secret)" }

                """, in: folder)
            _ = try daemon.request("GET /plain")
            let dump = try object(daemon, "/-/dump")
            #expect((dump["build"] as? [String: Any])?["version"] != nil)
            #expect((dump["process"] as? [String: Any])?["phase"] as? String == "serving")
            for page in ["/-/dump", "/-/config", "/-/plan", "/-/backends", "/-/explain?url=/plain"]
            {
                let body = try daemon.requestAdmin("GET \(page)").body
                #expect(!body.isEmpty && !body.contains(secret), "\(page)")
            }
        }

        @Test func isNotReadyWhileARequiredBackendIsDown() throws {
            let socket = try Socket(listeningOn: 0)
            let port = socket.port
            let daemon = try Daemon.serving(
                """
                backends:
                  b: { url: "\(backend.url)" }
                  down:
                    url: "http://127.0.0.1:\(port)"
                    health: { path: /up, every: 50ms, readiness: true }
                endpoints:
                  - route: GET /plain
                    calls:
                      one: { from: b, get: /now }
                      two: { from: down, get: / }

                """, in: folder)
            // The socket accepts and never responds, so that every check fails.
            let response = try daemon.eventuallyAdmin("GET /readyz", is: 503)
            #expect(response.body == "no host of down is usable\n")
            let verbose = try daemon.requestAdmin("GET /readyz?verbose")
            #expect(
                verbose.body
                    == "serving: ok\nworkers: ok\nbackend down: failed: no host of down is usable\n"
            )
            #expect(try daemon.requestAdmin("GET /livez").status == 200)
            let backends = try #require(
                try object(daemon, "/-/backends")["backends"] as? [[String: Any]])
            #expect(backends.map { $0["usable"] as? Bool } == [true, false])
            withExtendedLifetime(socket) {}
        }
    }
}
