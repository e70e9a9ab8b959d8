import Foundation
import Testing

extension EndToEnd {
    @Suite struct DrainTests {
        private let backend: Backend
        private let folder: Folder

        init() throws {
            backend = try Backend()
            folder = try Folder()
        }

        private func daemon(_ drain: String = "") throws -> Daemon {
            try Daemon.serving(
                "drain: { delay: 0s\(drain) }\ndefaults: { deadline: 60s, timeout: 60s }\n"
                    + plain(backend, path: "/held"), in: folder)
        }

        @Test(arguments: [SIGTERM, SIGINT])
        func finishesRequestsInFlight(_ signal: Int32) throws {
            let daemon = try daemon()
            let client = try Client(daemon.address)
            try client.send("GET /plain")
            try backend.awaitHeld()

            daemon.signal(signal)
            try daemon.awaitDraining()
            backend.release()
            let response = try client.readResponse()
            #expect(response.status == 200 && response.body == #"{"one":{"asked":"/held"}}"#)
            #expect(response["Connection"] == "close")
            client.close()
            #expect(try daemon.exitStatus() == 0)
            #expect(try daemon.errors.whole() == "")
        }

        @Test func secondSignalEndsAtOnce() throws {
            let daemon = try daemon()
            let client = try Client(daemon.address)
            try client.send("GET /plain")
            try backend.awaitHeld()

            daemon.signal(SIGTERM)
            try daemon.logLine("draining")
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
            #expect(try client.isEnded())
            #expect(try daemon.errors.whole() == "")
            #expect(try !daemon.output.whole().contains("left open"))
        }

        @Test func cutsOffRequestsAfterTheTimeout() throws {
            let daemon = try daemon(", timeout: 50ms")
            let client = try Client(daemon.address)
            try client.send("GET /plain")
            try backend.awaitHeld()

            daemon.signal(SIGTERM)
            #expect(try client.isEnded())
            #expect(try daemon.exitStatus() == 0)
            #expect(try daemon.errors.whole() == "")
            #expect(try !daemon.output.whole().contains("left open"))
            let line = try daemon.logLine("requests cut off at the end of the drain time")
            #expect(line["requests"] as? Int == 1)
        }

        /// /readyz reports "draining" while new clients are still served.
        @Test func acceptsRequestsDuringTheDelay() throws {
            let daemon = try Daemon.serving(
                "drain: { delay: 700ms }\n" + plain(backend), in: folder)
            #expect(try daemon.requestAdmin("GET /readyz").status == 200)
            let start = ContinuousClock.now
            daemon.signal(SIGTERM)
            try daemon.awaitDraining()

            let readiness = try daemon.requestAdmin("GET /readyz")
            #expect(readiness.status == 503 && readiness.body == "draining\n")
            #expect(try daemon.requestAdmin("GET /livez").status == 200)
            let response = try daemon.request("GET /plain")
            #expect(response.status == 200 && response["Connection"] == "close")
            #expect(try daemon.exitStatus() == 0)
            #expect(ContinuousClock.now - start >= .milliseconds(700))
        }

        @Test func closesIdleConnectionsAtOnce() throws {
            let daemon = try daemon()
            let idle = try Client(daemon.address)
            try idle.send("GET /nowhere")
            #expect(try idle.readResponse().status == 404)
            daemon.signal(SIGTERM)
            #expect(try idle.isEnded())
            idle.close()
            #expect(try daemon.exitStatus() == 0)
        }
    }
}
