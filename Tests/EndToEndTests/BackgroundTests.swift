import Foundation
import Testing

extension EndToEnd {
    /// `--daemonize`, `--pid-file` and `--log-file`.
    @Suite struct BackgroundTests {
        private let backend: Backend
        private let folder: Folder
        private var address: String { "unix:\(folder.path("s"))" }

        init() throws {
            backend = try Backend()
            folder = try Folder()
            try folder.write(
                "gateway.yaml", "version: 1\nlisten: \(address)\n" + plain(backend))
        }

        /// Starts a process in the background; gives its exit status, and ends it with the object.
        private func start(_ options: String...) throws -> (Command.Result, Running) {
            let result = try Command(
                ["serve", "--daemonize", "--pid-file", "pid"] + options + ["gateway.yaml"],
                in: folder.url)
            let status: Int32
            do {
                status = try result.exitStatus()
            } catch {
                // The process in the background would outlive the test.
                _ = Running(folder)
                throw error
            }
            // The end of both outputs: the process in the background has closed them.
            let whole = Command.Result(
                status: status, output: try result.output.whole(),
                errors: try result.errors.whole())
            return (whole, Running(folder))
        }

        /// The process that the pid file names.
        private final class Running {
            let id: Int32?

            init(_ folder: Folder) {
                let text = try? String(contentsOfFile: folder.path("pid"), encoding: .utf8)
                id = text.flatMap { Int32($0.dropLast()) }
            }

            deinit { if let id { kill(id, SIGKILL) } }

            func end(_ signal: Int32 = SIGTERM) throws {
                let id = try #require(id)
                kill(id, signal)
                let limit = Limit.date
                // A child of init: nothing here can wait for it.
                while kill(id, 0) == 0, Self.isRunning(id) {
                    guard Date.now < limit else { throw Limit.Passed("the end of \(id)") }
                    sched_yield()
                }
            }

            /// A process that ended and that init has not collected yet does not count. Its first
            /// thread may end before others, which still hold its files.
            private static func isRunning(_ id: Int32) -> Bool {
                let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
                // From `state` on (proc(5)).
                guard let fields = status?.split(separator: ")").last?.split(separator: " "),
                    fields.count > 17, let threads = Int(fields[17])
                else { return false }
                return fields[0] != "Z" || threads > 1
            }
        }

        private func text(_ name: String) -> String {
            (try? String(contentsOfFile: folder.path(name), encoding: .utf8)) ?? ""
        }

        /// Waits until a file contains a text: a thread of the daemon writes it.
        private func awaitText(_ text: String, times: Int = 1, in name: String) throws {
            let limit = Limit.date
            while self.text(name).components(separatedBy: text).count <= times {
                guard Date.now < limit else {
                    throw Limit.Passed("'\(text)' in \(name): \(self.text(name))")
                }
                sched_yield()
            }
        }

        private let nothing = Command.Result(status: 0)

        @Test func itReturnsWhenTheBackgroundProcessServes() throws {
            let (result, running) = try start()
            #expect(result == nothing)
            #expect(try Client.request(address, "GET /plain").status == 200)
            let id = try #require(running.id)
            #expect(text("pid") == "\(id)\n" && getsid(id) == id)
            try running.end()
            #expect(!folder.has("pid") && !folder.has("s"))
        }

        /// The thread that `fork` copied only waits: for Swift's runtime it has the id of another thread.
        @Test func theProcessServesOnAThreadOfItsOwn() throws {
            let (_, running) = try start("--log-file", "log")
            let id = try #require(running.id)
            let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")
            let own = try #require(
                threads.compactMap { Int32($0) }.first {
                    $0 != id && name(of: $0, in: id) == "main-loop"
                })
            let limit = Limit.date
            while status(of: id, in: id, "State")?.hasPrefix("S") != true {
                guard Date.now < limit else { throw Limit.Passed("the thread that was copied") }
                sched_yield()
            }
            let before = (switches(of: id, in: id), switches(of: own, in: id))
            for round in 1...3 {
                // The thread that serves reopens the log.
                kill(id, SIGUSR1)
                try awaitText(#""msg":"log file reopened""#, times: round, in: "log")
            }
            // It waits again after each of its events.
            while switches(of: own, in: id) == before.1 {
                guard Date.now < limit else { throw Limit.Passed("the thread that serves") }
                sched_yield()
            }
            #expect(switches(of: id, in: id) == before.0)
        }

        private func name(of thread: Int32, in process: Int32) -> String? {
            try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/comm", encoding: .utf8)
                .trimmingCharacters(in: .newlines)
        }

        /// How often the thread has waited (proc(5)).
        private func switches(of thread: Int32, in process: Int32) -> Int {
            status(of: thread, in: process, "voluntary_ctxt_switches").flatMap { Int($0) } ?? -1
        }

        /// A line of the thread's `status` in proc(5).
        private func status(of thread: Int32, in process: Int32, _ name: String) -> String? {
            let status = try? String(
                contentsOfFile: "/proc/\(process)/task/\(thread)/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.split(separator: "\t").last.map(String.init)
        }

        @Test func aFailureIsThatOfTheCommand() throws {
            try folder.write("gateway.yaml", "version: 2\n")
            let (result, running) = try start("--log-file", "log")
            #expect(result.status == 1 && running.id == nil)
            #expect(result.errors.hasPrefix("gateway.yaml:1:10: error: 'version' must be 1\n"))
            #expect(!folder.has("pid"))
        }

        @Test func anAddressInUseIsThatOfTheCommand() throws {
            let taken = try Socket(listeningOn: 0)
            try folder.write(
                "gateway.yaml", "version: 1\nlisten: 127.0.0.1:\(taken.port)\n" + plain(backend))
            let (result, _) = try start()
            #expect(result.status == 69)
            #expect(result.errors.hasPrefix("tributary: cannot listen on 127.0.0.1:\(taken.port)"))
        }

        @Test func aSecondProcessIsRefused() throws {
            let (_, running) = try start()
            let id = try #require(running.id)
            let second = try Command.run(
                "serve", "--pid-file", "pid", "gateway.yaml", in: folder.url)
            #expect(
                second
                    == Command.Result(
                        status: 69, errors: "tributary: pid: process \(id) is running\n"))
            #expect(text("pid") == "\(id)\n")
            #expect(try Client.request(address, "GET /plain").status == 200)
        }

        @Test func theFileOfAKilledProcessIsReplaced() throws {
            let (_, first) = try start()
            try first.end(SIGKILL)
            #expect(text("pid") == "\(first.id ?? 0)\n")
            let (result, second) = try start()
            #expect(result == nothing && second.id != first.id)
        }

        /// The number of a process that runs, without a lock: it was used again after a crash.
        @Test func aNumberAloneDoesNotCount() throws {
            try folder.write("pid", "\(getpid())\n")
            let (result, running) = try start()
            #expect(result == nothing && running.id != getpid())
        }

        @Test(arguments: ["--pid-file", "--log-file"])
        func aFileThatCannotBeWrittenIs73(_ option: String) throws {
            let result = try Command.run(
                "serve", option, "/nowhere/file", "gateway.yaml", in: folder.url)
            #expect(
                result
                    == Command.Result(
                        status: 73, errors: "tributary: /nowhere/file: No such file or directory\n")
            )
        }

        @Test func theLogGoesToItsFileAndASignalReopensIt() throws {
            let (_, running) = try start("--log-file", "log")
            try awaitText(#""msg":"listening""#, in: "log")
            #expect(try Client.request(address, "GET /first").status == 404)
            try awaitText(#""path":"/first""#, in: "log")

            #expect(rename(folder.path("log"), folder.path("log.1")) == 0)
            kill(try #require(running.id), SIGUSR1)
            try awaitText(#""msg":"log file reopened""#, in: "log")
            #expect(try Client.request(address, "GET /second").status == 404)
            try awaitText(#""path":"/second""#, in: "log")
            #expect(!text("log.1").contains("/second") && !text("log").contains("/first"))
            try running.end()
            #expect(text("log").hasSuffix("\"msg\":\"ended\"}\n"))
        }

        @Test func aLogThatCannotBeReopenedStays() throws {
            try FileManager.default.createDirectory(
                atPath: folder.path("logs"), withIntermediateDirectories: false)
            let (_, running) = try start("--log-file", "logs/log")
            #expect(rename(folder.path("logs"), folder.path("old")) == 0)
            kill(try #require(running.id), SIGUSR1)
            try awaitText(#""msg":"log file not reopened""#, in: "old/log")
            #expect(try Client.request(address, "GET /first").status == 404)
            try awaitText(#""path":"/first""#, in: "old/log")
            #expect(!text("old/log").contains("log file reopened"))
        }

        @Test func withoutAFileTheSignalIsALineOfTheLog() throws {
            let daemon = try Daemon.serving(plain(backend), in: folder)
            daemon.signal(SIGUSR1)
            try daemon.logLine("there is no log file to reopen")
            #expect(try daemon.request("GET /plain").status == 200)
        }
    }
}
