import Foundation
import Testing

extension EndToEnd {
    @Suite struct LogTests {
        private let backend: Backend
        private let folder: Folder
        private let daemon: Daemon

        init() throws {
            backend = try Backend()
            folder = try Folder()
            daemon = try Daemon.serving(
                "workers: 1\n" + plain(backend) + """
                      - route: GET /slow
                        calls:
                          one: { from: b, get: /held }

                    """, in: folder)
        }

        /// Ends the daemon and returns all lines of its log.
        private func wholeLog() throws -> [[String: Any]] {
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
            return try daemon.output.whole().split(separator: "\n").map { line in
                try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                    "\(line)")
            }
        }

        @Test func logsEveryRequest() throws {
            _ = try daemon.request("GET /plain?secret=1", ["X-Request-Id: first"])
            _ = try daemon.request("GET /nowhere", ["X-Request-Id: second"])
            _ = try daemon.request("POST /plain", ["X-Request-Id: third"], body: "{}")
            // Each worker collects its own lines, so their order is not that of the requests.
            let requests = try wholeLog().filter { $0["msg"] as? String == "request" }
                .sorted { ($0["status"] as? Int ?? 0) < ($1["status"] as? Int ?? 0) }
            #expect(requests.map { $0["id"] as? String } == ["first", "second", "third"])
            #expect(requests.map { $0["status"] as? Int } == [200, 404, 405])
            #expect(requests.map { $0["path"] as? String } == ["/plain", "/nowhere", "/plain"])
            #expect(requests.map { $0["endpoint"] as? String } == ["GET /plain", nil, nil])
            #expect(requests.allSatisfy { $0["ms"] is Double && $0["bytes_out"] is Int })
        }

        @Test func logs499ForDisconnectedClient() throws {
            let client = try Client(daemon.address)
            try client.send("GET /slow", ["X-Request-Id: impatient"])
            try backend.awaitHeld()
            client.close()
            let line = try daemon.logLine("request", containing: "impatient")
            #expect(line["status"] as? Int == 499 && line["bytes_out"] as? Int == 0)
            backend.release()
        }

        /// Every value that a client chooses is escaped: one request, one line.
        @Test(arguments: [
            #"/a"b\c"#, "/a%0A{%22msg%22:%22request%22}", "/\u{e9}\u{2028}x", "/a%00b",
            "/{\"msg\":1}",
        ])
        func clientsCannotForgeLogLines(_ path: String) throws {
            let client = try Client(daemon.address)
            try client.send(
                "GET \(path)",
                [
                    #"X-Request-Id: x","status":200,"y":"z"#, "User-Agent: a\u{1}b",
                ])
            _ = try? client.readResponse()
            client.close()
            let lines = try wholeLog()
            let ours = ["listening", "request", "refused", "draining", "ended"]
            #expect(lines.allSatisfy { ours.contains($0["msg"] as? String ?? "") })
            #expect(lines.count { ["request", "refused"].contains($0["msg"] as? String) } == 1)
        }

        @Test func refusesAndLogsMalformedRequests() throws {
            let client = try Client(daemon.address)
            try client.socket.send("nonsense\r\n\r\n")
            #expect(try client.readResponse().status == 400)
            client.close()
            let refused = try wholeLog().filter { $0["msg"] as? String == "refused" }
            #expect(refused.map { $0["status"] as? Int } == [400])
        }
    }
}
