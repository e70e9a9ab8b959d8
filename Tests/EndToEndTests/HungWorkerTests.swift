import Foundation
import Testing

extension EndToEnd {
    /// One thread of a running daemon hangs: all others continue, and the daemon reports it.
    @Suite(.enabled(if: Shim.isAvailable)) struct HungWorkerTests {
        private let backend: Backend
        private let folder: Folder
        private let shim: Shim

        init() throws {
            backend = try Backend()
            folder = try Folder()
            shim = try Shim(in: folder)
        }

        private func serving(_ drain: String = "{ timeout: 100ms }") throws -> Daemon {
            try Daemon.servingUnix(
                "workers: 2\ndrain: \(drain)\nlog: { access: false }\n" + plain(backend),
                in: folder, environment: shim.environment(thread: "worker-0"))
        }

        /// Makes a worker hang and waits until it no longer delivers its numbers.
        private func hangWorker(of daemon: Daemon) throws {
            try shim.hang()
            let limit = Limit.date
            while try daemon.metric(#"tributary_worker_up{worker="0"}"#) != "0" {
                guard Date.now < limit else { throw Limit.Passed("a worker that hangs") }
            }
        }

        @Test func reportsHungWorkerUntilItAnswersAgain() throws {
            let daemon = try serving()
            #expect(try daemon.metric(#"tributary_worker_up{worker="0"}"#) == "1")
            try hangWorker(of: daemon)

            let readiness = try daemon.eventuallyAdmin("GET /readyz", is: 503)
            #expect(readiness.body == "worker 0 does not answer\n")
            #expect(try daemon.requestAdmin("GET /livez").status == 200, "not for ten seconds yet")
            let page = try Exposition(try daemon.requestAdmin("GET /metrics").body)
            #expect(page.value("tributary_workers") == 2)
            #expect(page.value("tributary_worker_up", ["worker": "0"]) == 0)
            #expect(page.value("tributary_worker_up", ["worker": "1"]) == 1)
            let age = page.value("tributary_worker_heartbeat_age_seconds", ["worker": "0"])
            #expect(try #require(age) >= 2)
            #expect(page.value("tributary_worker_heartbeat_age_seconds", ["worker": "1"]) == 0)
            let requests = try daemon.requestAdmin("GET /-/requests")
            #expect(requests.body == #"{"requests":[],"missing_workers":[0]}"#)
            let line = try daemon.logLine("worker does not answer")
            #expect(line["worker"] as? Int == 0)

            try shim.release()
            try daemon.eventuallyAdmin("GET /readyz", is: 200)
            try daemon.logLine("worker answers again")
            #expect(try daemon.metric(#"tributary_worker_up{worker="0"}"#) == "1")
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
        }

        @Test func dumpLeavesOutAHungWorkerAndNamesIt() throws {
            let daemon = try serving()
            try hangWorker(of: daemon)
            let start = ContinuousClock.now
            let response = try daemon.requestAdmin("GET /-/dump")
            #expect(ContinuousClock.now - start < .seconds(5), "it waits half a second for workers")
            let dump = try #require(
                try JSONSerialization.jsonObject(with: Data(response.body.utf8)) as? [String: Any])
            #expect(dump["missing_workers"] as? [Int] == [0])
            let loops = try #require(dump["loops"] as? [[String: Any]])
            #expect(loops.map { $0["answers"] as? Bool } == [false, true])
            #expect((dump["backends"] as? [[String: Any]])?.first?["name"] as? String == "b")
            try shim.release()
        }

        @Test func refusesReloadWhileAWorkerHangs() throws {
            let daemon = try serving()
            try hangWorker(of: daemon)
            try daemon.eventuallyAdmin("GET /readyz", is: 503)
            let response = try daemon.requestAdmin("POST /-/reload")
            #expect(response.status == 503)
            #expect(
                response.body == "worker 0 does not answer; the last good configuration stays\n")
            let line = try daemon.logLine("reload failed; the last good configuration stays")
            #expect(line["problem"] as? String == "worker 0 does not answer")
            let failed = #"tributary_config_reloads_total{result="failed"}"#
            #expect(try daemon.metric(failed) == "1")

            try shim.release()
            try daemon.eventuallyAdmin("POST /-/reload", is: 200)
        }

        /// The responsive worker installs the new configuration at once, the hung worker later.
        @Test func logsReloadThatAHungWorkerHasNotInstalled() throws {
            let daemon = try serving()
            let limit = Limit.date
            try hangWorker(of: daemon)
            while try daemon.requestAdmin("POST /-/reload").status != 200 {
                // On a busy machine the worker may have been silent for too long already.
                guard Date.now < limit else { throw Limit.Passed("a reload in time") }
                try shim.release()
                try daemon.eventuallyAdmin("GET /readyz", is: 200)
                try hangWorker(of: daemon)
            }
            let line = try daemon.logLine("worker does not answer", containing: "configuration")
            #expect(line["configuration"] as? String == "not installed yet")
            try shim.release()
            try daemon.logLine("configuration installed", number: 2)
        }

        @Test func hungWorkerDoesNotKeepTheProcessAlive() throws {
            let daemon = try serving()
            try hangWorker(of: daemon)
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 70)
            let line = try daemon.logLine("worker abandoned, it did not end in time")
            #expect(line["worker"] as? Int == 0)
            #expect(try !daemon.output.whole().contains(#""msg":"ended""#))
            #expect(!folder.has("s"), "the socket's file goes with the daemon")
        }

        @Test func secondSignalDoesNotWaitForHungWorker() throws {
            let daemon = try serving("{ timeout: 1h }")
            try hangWorker(of: daemon)
            daemon.signal(SIGTERM)
            try daemon.logLine("draining")
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 70)
        }

        /// libuv would wait for its threads when the process exits.
        @Test func hungLookupDoesNotKeepTheProcessAlive() throws {
            try shim.hang()
            let daemon = try Daemon.servingUnix(
                """
                drain: { timeout: 100ms }
                backends:
                  b: { url: "http://hangs.test:1" }
                endpoints:
                  - route: GET /x
                    calls:
                      one: { from: b, get: / }

                """, in: folder, environment: shim.environment(thread: ""))
            let client = try Client(daemon.address)
            try client.send("GET /x")
            let limit = Limit.date
            while try daemon.metric("tributary_requests_in_flight") != "1" {
                guard Date.now < limit else { throw Limit.Passed("a request in flight") }
            }
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
            #expect(try client.isEnded())
        }
    }
}
