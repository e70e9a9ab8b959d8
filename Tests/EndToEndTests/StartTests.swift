import Foundation
import Testing

extension EndToEnd {
    @Suite struct StartTests {
        @Test func refusesConfigurationWithErrors() throws {
            let folder = try Folder([
                "bad.yaml": """
                version: 1
                listen: 127.0.0.1:0
                backends:
                  b: { uri: http://127.0.0.1:7001 }
                endpoints:
                  - route: GET /x
                    calls:
                      one: { from: c, get: /x }

                """
            ])
            let result = try Command.run("serve", "bad.yaml", in: folder.url)
            let expected = Command.Result(
                status: 1,
                errors: """
                    bad.yaml:4:8: error: unknown key 'uri' in backend 'b' - did you mean 'url'?
                    bad.yaml:8:20: error: call 'one': there is no backend 'c' (there are b)
                    2 errors

                    """)
            #expect(result == expected)
        }

        @Test(arguments: ["listen", "admin"]) func reportsAddressInUseInOneLine(_ key: String)
            throws
        {
            let taken = try Socket(listeningOn: 0)
            let backend = try Backend()
            let text = Daemon.complete(plain(backend)).replacing(
                "\(key): 127.0.0.1:0", with: "\(key): 127.0.0.1:\(taken.port)")
            let folder = try Folder(["taken.yaml": text])
            let result = try Command.run("serve", folder.path("taken.yaml"))
            #expect(result == inUse(taken.port))
        }

        /// Sharing a port among workers must not allow a second daemon on it.
        @Test func secondDaemonCannotShareThePort() throws {
            let backend = try Backend()
            let folder = try Folder()
            let first = try Daemon.serving("workers: 2\n" + plain(backend), in: folder)
            let port = try #require(first.address.split(separator: ":").last.flatMap { UInt16($0) })
            let second = Daemon.complete(
                "workers: 2\n" + plain(backend), listen: "127.0.0.1:\(port)")
            try folder.write("second.yaml", second)
            let result = try Command.run("serve", folder.path("second.yaml"))
            #expect(result == inUse(port))
            #expect(try first.request("GET /plain").status == 200)
        }

        private func inUse(_ port: UInt16) -> Command.Result {
            Command.Result(
                status: 69,
                errors: "tributary: cannot listen on 127.0.0.1:\(port): address already in use"
                    + " (is another tributary running?)\n")
        }

        @Test func listensOnHostName() throws {
            let folder = try Folder()
            let backend = try Backend()
            let daemon = try Daemon.serving(plain(backend), in: folder, listen: "localhost:0")
            #expect(daemon.address.hasPrefix("127.0.0.1:"))
            #expect(try daemon.request("GET /plain").status == 200)
        }

        @Test func reportsUnresolvableHostInOneLine() throws {
            let text = Daemon.complete(plain(try Backend()), listen: "nowhere.invalid:0")
            let folder = try Folder(["lost.yaml": text])
            let result = try Command.run("serve", folder.path("lost.yaml"))
            #expect(result.status == 69 && result.output.isEmpty)
            #expect(
                result.errors.wholeMatch(
                    of:
                        /tributary: cannot listen on nowhere\.invalid: (host not found|name service failed)\n/
                ) != nil, "\(result.errors)")
        }

        @Test func workersShareOnePort() throws {
            let backend = try Backend()
            let folder = try Folder()
            let daemon = try Daemon.serving("workers: 2\n" + plain(backend), in: folder)
            #expect(try daemon.metric("tributary_workers") == "2")
            for _ in 0..<16 { #expect(try daemon.request("GET /plain").status == 200) }
            #expect(try listeners(at: daemon.address) == 2)
        }

        #if os(Linux)
            /// The number of sockets that listen on a loopback port.
            private func listeners(at address: String) throws -> Int {
                let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
                let local = "0100007F:" + String(format: "%04X", port)
                // The kernel passes a page at a time, of which `String(contentsOfFile:)` reads one.
                let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/tcp"))
                return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
                    .split(separator: "\n")
                    .count { line in
                        let words = line.split(separator: " ")
                        return words.count > 3 && words[1] == local && words[3] == "0A"
                    }
            }
        #else
            private func listeners(at address: String) throws -> Int { 2 }
        #endif
    }

    @Suite struct UnixSocketTests {
        @Test(arguments: [1, 3]) func allWorkersServeTheSocket(_ workers: Int) throws {
            let folder = try Folder()
            let backend = try Backend()
            let daemon = try Daemon.serving(
                "workers: \(workers)\n" + plain(backend), in: folder,
                listen: "unix:\(folder.path("s"))")
            #expect(daemon.address == "unix:\(folder.path("s"))")
            for _ in 0..<8 { #expect(try daemon.request("GET /plain").status == 200) }

            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
            #expect(!folder.has("s"), "the socket's file goes with the daemon")
        }

        @Test func setsModeAndGroupOfSocketFile() throws {
            let folder = try Folder()
            let backend = try Backend()
            let text = Daemon.complete(plain(backend))
                .replacing(
                    "listen: 127.0.0.1:0",
                    with: "listen: { address: \"unix:\(folder.path("s"))\", mode: \"0600\" }"
                )
                .replacing(
                    "admin: 127.0.0.1:0",
                    with: "admin: { address: \"unix:\(folder.path("a"))\", mode: \"0666\","
                        + " group: \(getegid()) }")
            try folder.write("gateway.yaml", text)
            let daemon = try Daemon(["serve", folder.path("gateway.yaml")])
            try daemon.awaitListening()
            #expect(try daemon.request("GET /plain").status == 200)
            #expect(try mode(of: folder.path("s")) == 0o600)
            #expect(try mode(of: folder.path("a")) == 0o666)
        }

        private func mode(of path: String) throws -> Int? {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return attributes[.posixPermissions] as? Int
        }

        @Test(arguments: ["no-such-group", "4294967295", "4294967296", "+0"])
        func reportsUnknownGroupInOneLine(_ group: String) throws {
            let folder = try Folder()
            let text = Daemon.complete(
                plain(try Backend()),
                listen: "{ address: \"unix:\(folder.path("s"))\", group: \"\(group)\" }")
            try folder.write("gateway.yaml", text)
            let result = try Command.run("serve", folder.path("gateway.yaml"))
            #expect(
                result
                    == Command.Result(
                        status: 69,
                        errors:
                            "tributary: there is no group '\(group)' for the socket's file\n"
                    ))
            #expect(!folder.has("s"))
        }

        @Test func replacesSocketFileOfKilledDaemon() throws {
            let folder = try Folder()
            let backend = try Backend()
            let listen = "unix:\(folder.path("s"))"
            let first = try Daemon.serving(plain(backend), in: folder, listen: listen)
            first.signal(SIGKILL)
            #expect(try first.exitStatus() == -SIGKILL)
            #expect(folder.has("s"))
            let second = try Daemon.serving(plain(backend), in: folder, listen: listen)
            #expect(try second.request("GET /plain").status == 200)
        }

        @Test func keepsSocketFileOfRunningDaemon() throws {
            let folder = try Folder()
            let backend = try Backend()
            let listen = "unix:\(folder.path("s"))"
            let first = try Daemon.serving(plain(backend), in: folder, listen: listen)
            let result = try Command.run("serve", folder.path("gateway.yaml"))
            #expect(result.status == 69)
            #expect(
                result.errors
                    == "tributary: cannot listen on \(listen): address already in use"
                    + " (is another tributary running?)\n")
            #expect(try first.request("GET /plain").status == 200)
        }

        @Test func adminServerListensOnUnixSocket() throws {
            let folder = try Folder()
            let text = Daemon.complete(plain(try Backend())).replacing(
                "admin: 127.0.0.1:0", with: "admin: unix:\(folder.path("a"))")
            try folder.write("gateway.yaml", text)
            let daemon = try Daemon(["serve", folder.path("gateway.yaml")])
            try daemon.awaitListening()
            #expect(try daemon.requestAdmin("GET /readyz").status == 200)
        }
    }
}
