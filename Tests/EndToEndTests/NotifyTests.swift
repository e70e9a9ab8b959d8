import Foundation
import Testing

#if os(Linux)
    extension EndToEnd {
        /// The protocol of sd_notify(3), as a service manager meets it.
        @Suite struct NotifyTests {
            private let backend: Backend
            private let folder: Folder

            init() throws {
                backend = try Backend()
                folder = try Folder()
            }

            private func daemon(_ environment: [String: String]) throws -> Daemon {
                try folder.write(
                    "gateway.yaml",
                    Daemon.complete(
                        "drain: { delay: 1s, timeout: 3s }\nworkers: 2\n" + plain(backend)))
                let daemon = try Daemon(
                    ["serve", folder.path("gateway.yaml")], environment: environment)
                try daemon.awaitListening()
                return daemon
            }

            /// Microseconds of CLOCK_MONOTONIC.
            private var monotonic: Int {
                var now = timespec()
                clock_gettime(CLOCK_MONOTONIC, &now)
                return now.tv_sec * 1_000_000 + now.tv_nsec / 1000
            }

            @Test(arguments: [false, true])
            func readyReloadingAndStoppingAreReported(_ isAbstract: Bool) throws {
                let name = isAbstract ? "@\(folder.path("n"))" : folder.path("n")
                let manager = try NotifyReceiver(name)
                let daemon = try daemon(["NOTIFY_SOCKET": name])
                #expect(
                    try manager.message("READY=1")
                        == "READY=1\nSTATUS=serving on \(daemon.address)")
                #expect(manager.messages.count == 1, "no watchdog was configured")

                let before = monotonic
                daemon.signal(SIGHUP)
                let reloading = try manager.message("RELOADING=1")
                try manager.message("READY=1", number: 2)
                let match = try #require(
                    reloading.wholeMatch(
                        of: /RELOADING=1\nMONOTONIC_USEC=(\d+)\nSTATUS=reloading the configuration/)
                )
                #expect((before...monotonic).contains(Int(match.1) ?? 0))

                try folder.write("gateway.yaml", "nonsense")
                daemon.signal(SIGHUP)
                #expect(
                    try manager.message("READY=1", number: 3)
                        == "READY=1\nSTATUS=serving on \(daemon.address)"
                        + "; the last reload failed, the log has the reason")

                daemon.signal(SIGTERM)
                // delay + timeout + the time for workers that hang + the time for the log
                #expect(
                    try manager.message("STOPPING=1")
                        == "STOPPING=1\nEXTEND_TIMEOUT_USEC=7000000\nSTATUS=draining")
                #expect(try daemon.exitStatus() == 0)
            }

            @Test func theWatchdogIsFed() throws {
                let manager = try NotifyReceiver(folder.path("n"))
                let daemon = try daemon([
                    "NOTIFY_SOCKET": folder.path("n"), "WATCHDOG_USEC": "100000",
                ])
                try manager.message("WATCHDOG=1", number: 5)
                daemon.signal(SIGKILL)
                #expect(try daemon.exitStatus() == -SIGKILL)
            }

            @Test func aWatchdogOfAnotherProcessIsNotFed() throws {
                let manager = try NotifyReceiver(folder.path("n"))
                let daemon = try daemon([
                    "NOTIFY_SOCKET": folder.path("n"), "WATCHDOG_USEC": "20000",
                    "WATCHDOG_PID": "1",
                ])
                daemon.signal(SIGHUP)
                try manager.message("READY=1", number: 2)
                daemon.signal(SIGTERM)
                try manager.message("STOPPING=1")
                #expect(!manager.messages.contains("WATCHDOG=1"))
            }

            @Test(.enabled(if: Shim.isAvailable)) func aHungWorkerIsReported() throws {
                let shim = try Shim(in: folder)
                let manager = try NotifyReceiver(folder.path("n"))
                let daemon = try daemon(
                    shim.environment(thread: "worker-0").merging(
                        ["NOTIFY_SOCKET": folder.path("n")]
                    ) { $1 })
                try shim.hang()
                try manager.message("STATUS=worker 0 does not answer")
                try shim.release()
                try manager.message("STATUS=serving on \(daemon.address)")
            }

            @Test func aManagerThatIsGoneChangesNothing() throws {
                let daemon = try daemon([
                    "NOTIFY_SOCKET": folder.path("nothing"), "WATCHDOG_USEC": "1000000",
                ])
                let line = try daemon.logLine("service manager not notified")
                #expect(line["problem"] as? String == "No such file or directory")
                #expect(try daemon.request("GET /plain").status == 200)
            }
        }
    }
#endif
