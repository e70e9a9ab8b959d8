import Foundation
import Testing

#if os(Linux)
    extension EndToEnd {
        /// Sockets that a service manager opens and keeps open (socket activation).
        @Suite struct ActivationTests {
            private let backend: Backend
            private let folder: Folder
            private let listener: Socket
            private var address: String { "127.0.0.1:\(listener.port)" }

            init() throws {
                backend = try Backend()
                folder = try Folder()
                listener = try Socket(listeningOn: 0)
            }

            private func start(
                _ configuration: String = "workers: 2\n", sockets: [Socket]? = nil,
                listen: String? = nil, admin: String? = nil
            ) throws -> ActivatedDaemon {
                let text =
                    "version: 1\nlisten: \(listen ?? address)\n"
                    + (admin.map { "admin: \($0)\n" } ?? "") + configuration + plain(backend)
                try folder.write("gateway.yaml", text)
                return try ActivatedDaemon(
                    folder.path("gateway.yaml"), sockets: sockets ?? [listener],
                    names: "http:admin", log: folder.path("log"))
            }

            private var log: String {
                (try? String(contentsOfFile: folder.path("log"), encoding: .utf8)) ?? ""
            }

            @Test(arguments: [1, 2]) func anInheritedSocketIsServed(_ workers: Int) throws {
                let daemon = try start("workers: \(workers)\n")
                for _ in 0..<8 { #expect(try Client.request(address, "GET /plain").status == 200) }
                daemon.signal(SIGTERM)
                #expect(try daemon.exitStatus() == 0)
            }

            @Test func theAdminAddressIsInheritedToo() throws {
                let admin = try Socket(listeningOn: 0)
                let daemon = try start(
                    sockets: [listener, admin], admin: "127.0.0.1:\(admin.port)")
                #expect(try Client.request(address, "GET /plain").status == 200)
                // Not /readyz: the second worker may still be starting.
                let answer = try Client.request("127.0.0.1:\(admin.port)", "GET /livez")
                #expect(answer.status == 200)
                daemon.signal(SIGTERM)
                #expect(try daemon.exitStatus() == 0)
            }

            @Test func anInheritedUnixSocketKeepsItsFile() throws {
                let path = folder.path("s")
                let unix = try Socket(listeningAtPath: path)
                let daemon = try start(sockets: [unix], listen: "unix:\(path)")
                #expect(try Client.request("unix:\(path)", "GET /plain").status == 200)
                daemon.signal(SIGTERM)
                #expect(try daemon.exitStatus() == 0)
                #expect(folder.has("s"), "the file belongs to the service manager")
            }

            @Test func aSocketOfNoAddressEndsTheStart() throws {
                let daemon = try start(listen: "127.0.0.1:0")
                #expect(try daemon.exitStatus() == 69)
                #expect(
                    log == "tributary: inherited socket 'http': \(address) is neither an address of"
                        + " 'listen' nor of 'admin'\n")
            }

            @Test func aSocketThatDoesNotListenEndsTheStart() throws {
                let client = try Socket(connectedTo: address)
                let daemon = try start(sockets: [client])
                #expect(try daemon.exitStatus() == 69)
                #expect(
                    log.hasPrefix("tributary: inherited socket 'http': no listening stream socket"))
            }

            /// The next process gets the connections that wait while no process accepts.
            @Test func aRestartUnderLoadFailsNoRequest() throws {
                var daemon = try start("workers: 2\nlog: { access: false }\n")
                let load = Load(address, "GET /plain", clients: 4)
                try load.awaitRequests(100)
                for _ in 1...3 {
                    daemon.signal(SIGTERM)
                    #expect(try daemon.exitStatus() == 0)
                    daemon = try start("workers: 2\nlog: { access: false }\n")
                    try load.awaitRequests(100)
                }
                let (successes, errors) = try load.end()
                #expect(errors.isEmpty, "\(errors.count) of \(successes): \(errors.first ?? "")")
                #expect(successes >= 400)
                daemon.signal(SIGTERM)
                #expect(try daemon.exitStatus() == 0)
            }

            /// The control: the same load notices a restart whose sockets close.
            @Test func aRestartWithoutInheritedSocketsRefusesConnections() throws {
                let daemon = try Daemon.serving(
                    "log: { access: false }\n" + plain(backend), in: folder)
                let load = Load(daemon.address, "GET /plain", clients: 4)
                try load.awaitRequests(100)
                daemon.signal(SIGTERM)
                #expect(try daemon.exitStatus() == 0)
                try load.awaitRequests(10)
                #expect(try !load.end().errors.isEmpty)
            }
        }
    }
#endif
