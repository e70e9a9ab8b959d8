import Foundation
import Testing

extension EndToEnd {
    /// A process with few file descriptors.
    @Suite struct DescriptorTests {
        private let folder: Folder
        private let backend: Backend

        init() throws {
            folder = try Folder()
            backend = try Backend()
        }

        /// - Parameter limits: options of the shell's `ulimit`
        private func daemon(_ limits: String) throws -> Daemon {
            try folder.write(
                "gateway.yaml",
                Daemon.complete("workers: 1\nlog: { access: false }\n" + plain(backend)))
            let daemon = try Daemon(
                [
                    "-c", "ulimit \(limits) && exec \"$0\" serve \"$1\"", Binary.url().path,
                    folder.path("gateway.yaml"),
                ], program: URL(filePath: "/bin/sh"))
            try daemon.awaitListening()
            return daemon
        }

        @Test func raisesSoftLimitToHardLimit() throws {
            let daemon = try daemon("-S -n 256")
            var limit = rlimit()
            #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            #expect(try daemon.metric("process_max_fds") == "\(limit.rlim_max)")
            let open = try #require(try daemon.metric("process_open_fds").flatMap { Int($0) })
            #expect((5..<100).contains(open))
        }

        @Test func reducesConnectionsWithAWarning() throws {
            let daemon = try daemon("-n 128")
            let line = try daemon.logLine("limits.connections reduced to fit the file descriptors")
            #expect(line["level"] as? String == "warning")
            #expect(line["file_descriptors"] as? Int == 128)
            let connections = try #require(line["connections"] as? Int)
            #expect((10..<64).contains(connections))
        }

        /// Idle clients use all descriptors for clients: connected clients are still served, calls
        /// to backends find descriptors, and the admin server responds.
        @Test func idleClientsLeaveDescriptorsForCallsAndTheAdminAddress() throws {
            let daemon = try daemon("-n 128")
            let client = try Client(daemon.address)
            try client.send("GET /nowhere")
            #expect(try client.readResponse().status == 404)
            let idle = try (0..<200).map { _ in try Client(daemon.address) }
            // Connections above the limit get a 503 or are closed; the last one is accepted last.
            let refusal = try? idle[199].readResponse()
            #expect(refusal?.status ?? 503 == 503)

            try client.send("GET /plain")
            #expect(try client.readResponse().status == 200)
            #expect(try daemon.requestAdmin("GET /livez").status == 200)
            #expect(try daemon.metric("process_max_fds") == "128")
            let name = "tributary_file_descriptors_exhausted_total"
            #expect(try daemon.metric("\(name){operation=\"connect\"}") == "0")

            for client in idle { client.close() }
            try daemon.eventually("GET /plain", is: 200)
        }
    }
}
