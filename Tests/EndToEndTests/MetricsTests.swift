import Foundation
import Testing

extension EndToEnd {
    /// The metrics of a process: formats, configuration, resources.
    @Suite struct MetricsTests {
        private let backend: Backend
        private let folder: Folder

        init() throws {
            backend = try Backend()
            folder = try Folder()
        }

        @Test func acceptChoosesTheFormat() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            _ = try daemon.request("GET /plain")
            let field = "Accept: application/openmetrics-text; version=1.0.0"
            let openMetrics = try daemon.requestAdmin("GET /metrics", [field])
            #expect(
                openMetrics["Content-Type"]
                    == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(openMetrics["Vary"] == "Accept")
            #expect(openMetrics.body.hasSuffix("\n# EOF\n"))
            #expect(openMetrics.body.contains(" # {trace_id=\""))
            let prometheus = try daemon.requestAdmin("GET /metrics")
            #expect(prometheus["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(prometheus["Vary"] == "Accept")
            #expect(!prometheus.body.contains("# EOF"))
        }

        @Test func showsTheProcessAndItsLoops() throws {
            let daemon = try Daemon.serving("workers: 2\n" + plain(backend), in: folder)
            _ = try daemon.request("GET /plain")
            let page = try Exposition(daemon.requestAdmin("GET /metrics").body)
            #expect(try #require(page.value("process_resident_memory_bytes")) > 1_000_000)
            #expect(try #require(page.value("process_cpu_seconds_total")) > 0)
            #expect(try #require(page.value("process_open_fds")) > 3)
            let started = try #require(page.value("process_start_time_seconds"))
            #expect(abs(started - Date().timeIntervalSince1970) < 600)
            for worker in ["0", "1"] {
                let count = page.value(
                    "tributary_loop_iteration_seconds_count", ["worker": worker])
                #expect(try #require(count) > 0)
            }
        }

        /// The digest names the files in use: it stays when a reload fails.
        @Test func theDigestFollowsTheConfigurationInUse() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            func state() throws -> (digest: String, isSuccessful: String?) {
                let digests = try daemon.requestAdmin("GET /metrics").body.matches(
                    of: /\ntributary_config_info\{digest="([0-9a-f]{16})"\} 1\n/)
                #expect(digests.count == 1)
                return (
                    String(try #require(digests.first).1),
                    try daemon.metric("tributary_config_last_reload_successful")
                )
            }
            let first = try state()
            #expect(first.isSuccessful == "1")

            try folder.write("gateway.yaml", "version: 1\nnonsense: true\n")
            daemon.signal(SIGHUP)
            try daemon.logLine("reload failed; the last good configuration stays")
            let failed = try state()
            #expect(failed.digest == first.digest && failed.isSuccessful == "0")

            try folder.write(
                "gateway.yaml", Daemon.complete(plain(backend, route: "GET /other")))
            daemon.signal(SIGHUP)
            try daemon.logLine("configuration reloaded")
            let reloaded = try state()
            #expect(reloaded.digest != first.digest && reloaded.isSuccessful == "1")
        }

        @Test func checkPrintsTheBoundOfTheSeries() throws {
            let text = "version: 1\n" + plain(backend)
            let folder = try Folder([
                "without.yaml": text, "with.yaml": "admin: 127.0.0.1:0\nworkers: 2\n" + text,
            ])
            let without = try Command.run("check", "without.yaml", in: folder.url)
            #expect(without.status == 0 && !without.output.contains("time series"))
            let with = try Command.run("check", "with.yaml", in: folder.url)
            let line = try #require(
                with.output.firstMatch(
                    of: /\nat most (\d+) time series in \/metrics, and (\d+) for each worker\n/))
            let bound = try #require(Int(line.1)) + 2 * #require(Int(line.2))

            let daemon = try Daemon(["serve", folder.path("with.yaml")])
            try daemon.awaitListening()
            _ = try daemon.request("GET /plain")
            let page = try Exposition(daemon.requestAdmin("GET /metrics").body)
            #expect(page.samples.count <= bound)
            #expect(page.samples.count > bound / 2)
        }
    }
}
