import Foundation
import Testing

extension EndToEnd {
    @Suite struct ReloadTests {
        private let backend: Backend
        private let folder: Folder
        private let daemon: Daemon

        init() throws {
            backend = try Backend()
            folder = try Folder()
            daemon = try Daemon.serving(Self.start + plain(backend), in: folder)
        }

        /// Without the access log, because searching its many lines would be slow.
        private static let start = "workers: 2\nlog: { access: false }\n"

        private func write(_ configuration: String) throws {
            try folder.write("gateway.yaml", Daemon.complete(Self.start + configuration))
        }

        private func reloads(_ result: String) throws -> String? {
            try daemon.metric(#"tributary_config_reloads_total{result="\#(result)"}"#)
        }

        @Test func installsValidConfiguration() throws {
            try write(plain(backend, route: "GET /new"))
            daemon.signal(SIGHUP)
            try daemon.logLine("configuration reloaded")
            #expect(try reloads("succeeded") == "1")
            #expect(try reloads("failed") == "0")
            // The workers install it one after another.
            try daemon.eventually("GET /new", is: 200)
            try daemon.eventually("GET /plain", is: 404)
        }

        @Test func keepsConfigurationIfTheFileHasErrors() throws {
            try write(plain(backend, route: "GET /new").replacing("from:", with: "form:"))
            daemon.signal(SIGHUP)
            try daemon.logLine("reload failed; the last good configuration stays")
            try daemon.logLine("configuration", containing: "did you mean 'from'?")
            #expect(try reloads("failed") == "1")
            #expect(try daemon.request("GET /plain").status == 200)
            #expect(try daemon.request("GET /new").status == 404)
        }

        @Test func keepsConfigurationIfTheFileIsMissing() throws {
            try FileManager.default.removeItem(atPath: folder.path("gateway.yaml"))
            daemon.signal(SIGHUP)
            let line = try daemon.logLine("configuration")
            #expect(line["problem"] as? String == "\(folder.path("gateway.yaml")): no such file")
            #expect(try reloads("failed") == "1")
            #expect(try daemon.request("GET /plain").status == 200)
        }

        @Test func reloadsByAdminPage() throws {
            try write(plain(backend, route: "GET /new"))
            let response = try daemon.requestAdmin("POST /-/reload")
            #expect(response.status == 200 && response.body == "reloaded\n")
            try daemon.eventually("GET /new", is: 200)

            try write("nonsense\n")
            // At most one reload per second is admitted.
            let refusal = try daemon.eventuallyReloaded()
            #expect(refusal.status == 422)
            #expect(try daemon.requestAdmin("PUT /-/reload").status == 405)
        }

        /// Valid and invalid reloads while clients send requests without a pause: no request fails.
        @Test func noRequestFailsDuringReloads() throws {
            let clients = try (0..<4).map { _ in try Asker(daemon.address) }
            for round in 1...3 {
                try write(plain(backend, path: "/reload/\(round)"))
                daemon.signal(SIGHUP)
                // Waits for each signal, because the system merges pending signals of one kind.
                try daemon.logLine("configuration reloaded", number: round)
                for client in clients { try client.awaitResponses(3) }

                try write("nonsense")
                daemon.signal(SIGHUP)
                try daemon.logLine(
                    "reload failed; the last good configuration stays", number: round)
                for client in clients { try client.awaitResponses(3) }
            }
            for client in clients { #expect(try client.end().allSatisfy { $0 == 200 }) }
            #expect(try reloads("succeeded") == "3")
            #expect(try reloads("failed") == "3")
        }

        /// A configuration whose reload lasts long enough for what comes during it.
        private func large(route: String) -> String {
            plain(backend, route: route)
                + (1...100).map {
                    "  - { route: GET /other/\($0), calls: { one: { from: b, get: /now } } }\n"
                }.joined()
        }

        /// No signal during a reload is lost: the file is read again as it is then.
        @Test func servesTheLastFileOfReloadsAtOnce() throws {
            for round in 1...20 {
                try write(large(route: "GET /\(round)"))
                daemon.signal(SIGHUP)
            }
            try daemon.eventually("GET /20", is: 200)
            try daemon.eventually("GET /plain", is: 404)
            #expect(try reloads("failed") == "0")
        }

        @Test func endsDuringAReload() throws {
            try write(large(route: "GET /new"))
            // Both signals wait, so that the second comes before the reload has ended.
            for signal in [SIGSTOP, SIGHUP, SIGTERM, SIGCONT] { daemon.signal(signal) }
            #expect(try daemon.exitStatus() == 0)
            #expect(try daemon.output.whole().contains(#""msg":"nothing to reload""#))
        }

        @Test func warnsOfChangesThatNeedARestart() throws {
            try folder.write(
                "gateway.yaml",
                Daemon.complete("workers: 3\n" + plain(backend), listen: "127.0.0.1:1"))
            daemon.signal(SIGHUP)
            try daemon.logLine("a change that needs a restart", containing: #""key":"listen""#)
            try daemon.logLine("a change that needs a restart", containing: #""key":"workers""#)
            try daemon.logLine("configuration reloaded")
            #expect(try daemon.request("GET /plain").status == 200)
        }

        @Test func appliesLimitsToNewConnections() throws {
            let long = "GET /\(String(repeating: "x", count: 2000))"
            #expect(try daemon.request(long).status == 404)
            try write("limits: { uri_bytes: 1KiB }\n" + plain(backend, route: "GET /new"))
            daemon.signal(SIGHUP)
            try daemon.eventually("GET /new", is: 200)
            try daemon.eventually(long, is: 414)
        }

        @Test func changesLogLevelAtOnce() throws {
            let text = Daemon.complete(Self.start + plain(backend, route: "GET /new"))
            try folder.write("gateway.yaml", text.replacing("access: false", with: "level: error"))
            #expect(try daemon.requestAdmin("POST /-/reload").status == 200)
            try daemon.eventually("GET /new", is: 200)
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
            #expect(try !daemon.output.whole().contains(#""msg":"draining""#))
        }
    }
}

/// A client that requests /plain repeatedly, on one connection and its own thread.
private final class Asker: @unchecked Sendable {
    // Guarded by `changed`.
    private var statuses: [Int] = []
    private var isStopping = false
    private var failure: (any Error)?
    private var hasEnded = false
    private let changed = NSCondition()

    init(_ address: String) throws {
        let client = try Client(address)
        let first = UncheckedBox(client)
        Thread.detachNewThread { [self] in
            var client = first.value
            do {
                while !changed.withLock({ isStopping }) {
                    try client.send("GET /plain")
                    let response = try client.readResponse()
                    if response["Connection"] == "close" { client = try Client(address) }
                    changed.withLock {
                        statuses.append(response.status)
                        changed.broadcast()
                    }
                }
            } catch {
                changed.withLock { failure = error }
            }
            changed.withLock {
                hasEnded = true
                changed.broadcast()
            }
        }
    }

    /// Waits for this number of further responses.
    func awaitResponses(_ count: Int) throws {
        let goal = changed.withLock { statuses.count + count }
        try wait { statuses.count >= goal || hasEnded }
    }

    /// The statuses of all responses.
    func end() throws -> [Int] {
        changed.withLock { isStopping = true }
        try wait { hasEnded }
        if let failure { throw failure }
        return statuses
    }

    private func wait(until isThere: () -> Bool) throws {
        let limit = Limit.date
        changed.lock()
        defer { changed.unlock() }
        while !isThere() {
            guard changed.wait(until: limit) else { throw Limit.Passed("answers") }
        }
    }
}

private struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
