import Foundation
import Testing

extension EndToEnd {
    /// `serve --watch`.
    @Suite struct WatchTests {
        private let backend: Backend
        private let folder: Folder

        init() throws {
            backend = try Backend()
            folder = try Folder()
        }

        private func daemon(_ path: String) throws -> Daemon {
            let daemon = try Daemon(["serve", "--watch", folder.path(path)])
            try daemon.awaitListening()
            return daemon
        }

        /// Puts a version of the configuration there as Kubernetes does it for a ConfigMap: a new
        /// folder, and a link to it that is exchanged in one step.
        private func mount(_ version: Int, _ configuration: String) throws {
            try FileManager.default.createDirectory(
                atPath: folder.path("..\(version)"), withIntermediateDirectories: false)
            try folder.write("..\(version)/gateway.yaml", Daemon.complete(configuration))
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("..data_tmp"), withDestinationPath: "..\(version)")
            guard rename(folder.path("..data_tmp"), folder.path("..data")) == 0 else {
                throw Socket.Failure("rename")
            }
            try FileManager.default.removeItem(atPath: folder.path("..\(version - 1)"))
        }

        @Test func aConfigMapThatIsExchangedIsReloaded() throws {
            try FileManager.default.createDirectory(
                atPath: folder.path("..0"), withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("gateway.yaml"), withDestinationPath: "..data/gateway.yaml")
            try mount(1, plain(backend))
            let daemon = try daemon("gateway.yaml")
            #expect(try daemon.request("GET /plain").status == 200)

            try mount(2, plain(backend, route: "GET /new"))
            try daemon.logLine("configuration files changed")
            try daemon.logLine("configuration reloaded")
            try daemon.eventually("GET /new", is: 200)
            try daemon.eventually("GET /plain", is: 404)
        }

        @Test func aBadFileIsReadOnceAndItsCorrectionToo() throws {
            try folder.write("gateway.yaml", Daemon.complete(plain(backend)))
            let daemon = try daemon("gateway.yaml")
            try folder.write("gateway.yaml", "nonsense")
            try daemon.logLine("reload failed; the last good configuration stays")
            #expect(try daemon.request("GET /plain").status == 200)
            try FileManager.default.removeItem(atPath: folder.path("gateway.yaml"))
            try daemon.logLine("reload failed; the last good configuration stays", number: 2)
            try folder.write(
                "gateway.yaml", Daemon.complete(plain(backend, route: "GET /new")))
            try daemon.logLine("configuration reloaded")
            let failed = try daemon.metric(#"tributary_config_reloads_total{result="failed"}"#)
            #expect(failed == "2")
        }

        /// Files that are new in a directory which a pattern of `include` names.
        @Test func anIncludedFileIsSeen() throws {
            try FileManager.default.createDirectory(
                atPath: folder.path("more"), withIntermediateDirectories: false)
            try folder.write(
                "gateway.yaml", Daemon.complete("include: more/*.yaml\n" + plain(backend)))
            let daemon = try daemon("gateway.yaml")
            try folder.write(
                "more/a.yaml",
                "endpoints:\n  - route: GET /more\n    calls:\n      one: { from: b, get: /now }\n")
            try daemon.logLine("configuration reloaded")
            try daemon.eventually("GET /more", is: 200)
        }

        @Test(arguments: [["--watch"], ["--watch", "-"]])
        func watchingNeedsAFile(_ arguments: [String]) throws {
            let command = try Command(["serve"] + arguments)
            #expect(try command.exitStatus() == 64)
            #expect(
                try command.errors.whole().hasPrefix(
                    "Error: --watch needs the file of a configuration\n"))
        }
    }
}
