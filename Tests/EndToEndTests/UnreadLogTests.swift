import Foundation
import Testing

extension EndToEnd {
    /// Standard output is a full pipe, a failing device, or closed: the daemon continues to serve.
    @Suite struct UnreadLogTests {
        private let backend: Backend
        private let folder: Folder

        init() throws {
            backend = try Backend()
            folder = try Folder()
        }

        private var configuration: String { "workers: 1\n" + plain(backend) }

        private static let dropped = "tributary_log_lines_dropped_total"

        /// Sends requests whose log lines have about 7 KiB each, numbered from 0.
        private func sendLongRequests(_ count: Int, to daemon: Daemon) throws {
            let path = "/nowhere/" + String(repeating: "y", count: 7000)
            let client = try Client(daemon.address)
            for number in 0..<count {
                try client.send("GET \(path)", ["X-Request-Id: \(number)"])
                #expect(try client.readResponse().status == 404)
            }
            client.close()
        }

        /// Compares only the beginning of the lines, which are long.
        private func awaitLine(ofRequest number: Int, of daemon: Daemon) throws {
            let id = #""id":"\#(number)""#
            _ = try daemon.output.line("the line of request \(number)") {
                $0.prefix(120).contains(id)
            }
        }

        @Test func unreadLogBlocksNothing() throws {
            let daemon = try Daemon.servingUnix(
                configuration, in: folder, output: Output(isRead: false))
            try sendLongRequests(100, to: daemon)
            let before = try daemon.residentBytes()
            try sendLongRequests(5000, to: daemon)  // 35 MB of lines
            let grown = try daemon.residentBytes() - before

            if !Sanitizer.keepsFreedMemory {
                #expect(grown < 14 << 20, "8 MiB of lines and some change: \(grown)")
            }
            #expect(try daemon.requestAdmin("GET /livez").status == 200)
            #expect(try daemon.request("GET /plain").status == 200)
            let dropped = try #require(Int(try daemon.metric(Self.dropped) ?? ""))
            #expect(dropped > 3000)
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
        }

        @Test func reportsDroppedLinesWhenWritingResumes() throws {
            let daemon = try Daemon.servingUnix(
                configuration, in: folder, output: Output(isRead: false))
            let count = 1500
            try sendLongRequests(count, to: daemon)
            daemon.output.startReading()
            try awaitLine(ofRequest: count - 1, of: daemon)
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)

            let lines = try daemon.output.whole().split(separator: "\n").map { line in
                try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
            let numbers = lines.filter { $0["msg"] as? String == "request" }
                .compactMap { ($0["id"] as? String).flatMap { Int($0) } }
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
            #expect(numbers.first == 0 && numbers.last == count - 1, "dropped from the middle")
            let reports = lines.filter { $0["msg"] as? String == "log lines dropped" }
            let lost = reports.compactMap { $0["lines"] as? Int }.reduce(0, +)
            #expect(lost > 0 && numbers.count + lost == count)
            #expect(reports.allSatisfy { $0["level"] as? String == "warning" })
        }

        @Test func losesNoLineWhileTheLogIsRead() throws {
            let daemon = try Daemon.servingUnix(configuration, in: folder)
            let count = 1000
            try sendLongRequests(count, to: daemon)
            try awaitLine(ofRequest: count - 1, of: daemon)
            #expect(try daemon.metric(Self.dropped) == "0")
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
            let log = try daemon.output.whole()
            let numbers = log.matches(of: /"id":"(\d+)"/).compactMap { Int($0.1) }
            #expect(numbers == Array(0..<count))
            #expect(!log.contains("log lines dropped"))
            #expect(log.hasSuffix("\"ended\"}\n"))
        }

        @Test func pipeWithoutReaderBlocksNothing() throws {
            let output = Output(isRead: false)
            let daemon = try Daemon.servingUnix(configuration, in: folder, output: output)
            try output.pipe.fileHandleForReading.close()
            #expect(try daemon.request("GET /plain").status == 200)
            let limit = Limit.date
            while try daemon.metric(Self.dropped) != "1" {  // the line of the request
                guard Date.now < limit else { throw Limit.Passed("a line to be dropped") }
            }
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
        }

        #if os(Linux)
            @Test func countsLinesThatCannotBeWritten() throws {
                let daemon = try Daemon.servingUnix(
                    configuration, in: folder, redirections: ">/dev/full")
                #expect(try daemon.request("GET /plain").status == 200)
                let limit = Limit.date
                while try daemon.metric(Self.dropped) != "2" {  // "listening" and one request
                    guard Date.now < limit else { throw Limit.Passed("two lines to be dropped") }
                }
                daemon.signal(SIGTERM)
                #expect(try daemon.exitStatus() == 0)
            }
        #endif

        @Test(arguments: ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
        func replacesClosedStandardStreams(_ redirections: String) throws {
            let daemon = try Daemon.servingUnix(
                configuration, in: folder, redirections: redirections)
            let client = try Client(daemon.address)
            try client.send("GET /plain")
            let response = try client.readResponse()
            #expect(response.status == 200 && response.body == #"{"one":{"asked":"/now"}}"#)
            client.close()
            #expect(try daemon.metric(Self.dropped) == "0")
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
        }
    }
}

extension Daemon {
    /// The resident memory of the process; 0 where the system does not report it.
    fileprivate func residentBytes() throws -> Int {
        #if os(Linux)
            let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
            let match = try #require(status.firstMatch(of: /VmRSS:\s+(\d+) kB/))
            return try #require(Int(match.1)) << 10
        #else
            return 0
        #endif
    }
}
