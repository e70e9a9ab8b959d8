import Gateway
import Testing

@testable import Rehearsal

/// Streams in `tributary simulate`: bodies that arrive in pieces, with a rhythm.
@Suite struct StreamTests {
    private struct Options {
        /// More keys of `proxy`, with a comma before them.
        var proxy = ""
        var pieces = ""
        var rhythm = ""
        var uploadPieces = ""
        var uploadRhythm = ""
        var faults = ""
        var route = "ANY /*"
    }

    private func report(_ options: Options) throws -> String {
        try withRehearsal(options) { RehearsalSummary(of: $0).text }
    }

    private func withRehearsal<Value>(
        _ options: Options, _ body: (RehearsalRun) throws -> Value
    ) throws -> Value {
        let text = """
            version: 1
            backends: { events: { url: "http://events.internal:80" } }
            endpoints: [{ route: "\(options.route)", proxy: { to: events\(options.proxy) } }]
            """
        let files = ConfigFiles(
            read: { _ throws(ConfigFileError) in Array(text.utf8) },
            list: { _ throws(ConfigFileError) in throw .notFound })
        let (loaded, problems) = ConfigLoader.load("c.yaml", files: files) { _ in nil }
        let config = try #require(loaded, "\(problems.lines)")
        let names = ["events"]
        var settings = RehearsalRun.Settings()
        settings.requests = 20
        settings.faults = try FaultRule.list(options.faults, backends: names)
        settings.downloads.pieces = try PiecesRule.list(options.pieces, backends: names)
        settings.downloads.rhythm = try TimeRule.list(options.rhythm, of: "rhythm", backends: names)
        settings.uploads.pieces = try PiecesRule.list(options.uploadPieces, backends: names)
        settings.uploads.rhythm = try TimeRule.list(
            options.uploadRhythm, of: "rhythm", backends: names)
        try settings.checkBodies()
        let plan = try Planner.plan(config, processors: 1)
        let rehearsal = try RehearsalRun(config, plan, settings)
        rehearsal.runRequests()
        defer { rehearsal.close() }
        return try body(rehearsal)
    }

    @Test func piecesPassInTheirRhythm() throws {
        try withRehearsal(Options(pieces: "events: 2KiB 100B*4", rhythm: "events: 500ms-600ms")) {
            rehearsal in
            for request in rehearsal.requests {
                let duration = try #require(request.duration)
                #expect(duration >= .milliseconds(2000) && duration < .milliseconds(2500))
                #expect(try #require(request.timeToFirstByte) < .milliseconds(100))
                #expect(request.sent?.response?.body.count == 2448)
            }
            let report = RehearsalSummary(of: rehearsal).text
            #expect(report.contains("  200                   20    100.0%"))
            #expect(report.contains("  first byte            20"))
            #expect(Waterfall.of(3, in: rehearsal)?.contains("\nfirst byte after ") == true)
        }
    }

    /// Without a rule for streams, a proxy is simulated as before.
    @Test func bodiesAreWholeWithoutRules() throws {
        let report = try report(Options())
        #expect(report.contains("  200 ") && !report.contains("first byte"))
    }

    @Test(arguments: [
        (", idle_timeout: 1s", "events: 900ms", "200  "),
        (", idle_timeout: 1s", "events: 1100ms", "200 broken off"),
        (", max_duration: 3s", "events: 500ms", "200 broken off"),
    ])
    func limitsOfTimeEndStreams(_ proxy: String, _ rhythm: String, _ outcome: String) throws {
        let report = try report(Options(proxy: proxy, rhythm: rhythm))
        #expect(report.contains("\n  \(outcome)") && report.contains("100.0%"))
        #expect(!report.contains(" 0.0ms"))
    }

    @Test func cutEndsAStreamInItsMiddle() throws {
        let report = try report(
            Options(pieces: "*: 1KiB*10", rhythm: "*: 100ms", faults: "*: cut 100%"))
        #expect(report.contains("  200 broken off        20    100.0%"))
    }

    @Test(arguments: [
        ("", "200  "), (", idle_timeout: 1s", "408  "), (", max_body: 2KiB", "413  "),
    ])
    func clientsSendBodiesInPieces(_ proxy: String, _ outcome: String) throws {
        try withRehearsal(
            Options(proxy: proxy, uploadPieces: "events: 1KiB*3", uploadRhythm: "events: 2s")
        ) { rehearsal in
            let report = RehearsalSummary(of: rehearsal).text
            #expect(report.contains("\n  \(outcome)") && report.contains("100.0%"))
            guard outcome == "200  " else { return }
            #expect(rehearsal.attempts.allSatisfy { $0.first?.message.body.count == 3072 })
            #expect(rehearsal.requests.allSatisfy { $0.duration ?? .zero > .seconds(4) })
        }
    }

    @Test func requestsOfRoutesWithoutBodiesHaveNone() throws {
        try withRehearsal(Options(uploadPieces: "*: 1KiB", route: "GET /x")) { rehearsal in
            #expect(rehearsal.attempts.allSatisfy { $0.first?.message.body.isEmpty == true })
        }
    }

    @Test func failuresOfProxiesAreListed() throws {
        let report = try report(
            Options(proxy: ", timeout: 1s", faults: "*: timeout 100%"))
        #expect(report.contains("  failed: proxy http_response_timeout, 20 times"))
    }

    @Test(arguments: [
        "events", "other: 1KiB", "events:", "events: 0B", "events: 1KiB*0", "events: 1KiB*100001",
        "events: 1KiB*60000 1KiB*60000", "events: 65MiB", "events: -1B", "events: 1", "events: *",
        "events: 1B*1*1", "events: 99999999999999999999B", "events: 9223372036854775807KiB",
    ])
    func reportsInvalidPieces(_ text: String) {
        #expect(throws: RuleList.SyntaxError.self) {
            try PiecesRule.list(text, backends: ["events"])
        }
    }

    @Test(arguments: [
        ("64MiB 64MiB 64MiB 64MiB", 1, true), ("64MiB 64MiB 64MiB 64MiB 1B", 1, false),
        ("1B*100000", 10, true), ("1B*100000", 11, false),
    ])
    func bodiesHaveAtMost256MiBInAMillionPieces(
        _ pieces: String, _ requests: Int, _ isAccepted: Bool
    ) throws {
        var settings = RehearsalRun.Settings()
        settings.downloads.pieces = try PiecesRule.list("events: \(pieces)", backends: ["events"])
        settings.requests = requests
        #expect(((try? settings.checkBodies()) != nil) == isAccepted)
    }

    @Test(arguments: ["events: 64MiB", "events: 1B*100000"])
    func bodiesOfAllRequestsAreBounded(_ pieces: String) throws {
        var settings = RehearsalRun.Settings()
        settings.downloads.pieces = try PiecesRule.list(pieces, backends: ["events"])
        settings.requests = 4
        try settings.checkBodies()
        settings.requests = 1000
        #expect(throws: RuleList.SyntaxError.self) { try settings.checkBodies() }
    }
}
