import Foundation
import Testing

extension EndToEnd {
    /// HTTP/2 with real clients, where they are installed.
    @Suite struct HTTP2Tests {
        private static let configuration = """
            workers: 1
            log: { access: true }
            backends:
              b: { url: "BACKEND" }
            endpoints:
              - { route: GET /x, calls: { one: { from: b, get: /one } } }
              - { route: GET /y/*, proxy: { to: b, path: /* } }

            """

        /// A daemon with its backend, which serves as long as it is held.
        private struct Gateway {
            let daemon: Daemon
            let backend: Backend
            let folder: Folder
            let port: Substring

            init(_ listen: String, files: [String] = []) throws {
                folder = try Folder()
                let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
                    .deletingLastPathComponent().appending(path: "Fixtures/tls")
                for name in files {
                    try folder.write(
                        name, String(contentsOf: fixtures.appending(path: name), encoding: .utf8))
                }
                backend = try Backend()
                let configuration = HTTP2Tests.configuration
                    .replacingOccurrences(of: "BACKEND", with: backend.url)
                daemon = try Daemon.serving(configuration, in: folder, listen: listen)
                let digits = try #require(daemon.address.split(separator: ":").last)
                port = digits.prefix { $0.isNumber }
            }

            /// What a client prints.
            func run(_ tool: Tool, _ arguments: [String]) throws -> String {
                let command = try Command(arguments, program: tool.url, in: folder.url)
                let status = try command.exitStatus()
                #expect(status == 0, "\(command.errors.text)")
                return try command.output.whole()
            }

            /// The responses to an aggregate and to a proxied request, each on a connection of its own: some
            /// versions of curl cannot use one with prior knowledge twice.
            func responses(_ curl: Tool, _ origin: String, _ options: String...) throws -> String {
                let common = ["-s", "-w", " %{http_version} %{http_code}\n"] + options
                return try ["/x", "/y/a"].map { try run(curl, common + [origin + $0]) }.joined()
            }
        }

        private func expected(_ version: String) -> String {
            "{\"one\":{\"asked\":\"/one\"}} \(version) 200\n{\"asked\":\"/a\"} \(version) 200\n"
        }

        @Test(arguments: Tool.present(["curl"]))
        func servesPriorKnowledgeAndHTTP1(_ curl: Tool) throws {
            let gateway = try Gateway("{ address: 127.0.0.1:0, protocols: [http2, http1] }")
            let origin = "http://127.0.0.1:\(gateway.port)"
            #expect(
                try gateway.responses(curl, origin, "--http2-prior-knowledge") == expected("2"))
            #expect(try gateway.responses(curl, origin, "--http1.1") == expected("1.1"))
            // An upgrade is ignored.
            #expect(try gateway.responses(curl, origin, "--http2") == expected("1.1"))
        }

        /// With TLS the client and the server agree on HTTP/2 by default.
        @Test(arguments: Tool.present(["curl"]))
        func negotiatesWithTLS(_ curl: Tool) throws {
            let gateway = try Gateway(
                "{ address: 127.0.0.1:0, tls: { cert: shop.pem, key: shop.key } }",
                files: ["authority.pem", "shop.pem", "shop.key"])
            let origin = "https://shop.test:\(gateway.port)"
            let resolve = "shop.test:\(gateway.port):127.0.0.1"
            for (option, version) in [("--http2", "2"), ("--http1.1", "1.1")] {
                #expect(
                    try gateway.responses(
                        curl, origin, option, "--cacert", "authority.pem", "--resolve", resolve)
                        == expected(version))
            }
        }

        /// All requests of many streams get their responses.
        @Test(arguments: Tool.present(["h2load"]))
        func servesManyStreams(_ load: Tool) throws {
            let gateway = try Gateway("{ address: 127.0.0.1:0, protocols: [http2] }")
            let report = try gateway.run(
                load, ["-n", "2000", "-c", "4", "-m", "20", "http://127.0.0.1:\(gateway.port)/x"])
            #expect(report.contains("2000 succeeded, 0 failed, 0 errored, 0 timeout"))
            #expect(report.contains("status codes: 2000 2xx"))
        }
    }
}
