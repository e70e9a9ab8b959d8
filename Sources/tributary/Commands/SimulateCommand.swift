import ArgumentParser
import Gateway
import Process
import Rehearsal
import System

/// `tributary simulate CONFIG`
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate a configuration in virtual time and report its responses.",
        discussion: """
            Clients and backends are simulated; nothing is sent. The same seed gives the \
            same run.

            --faults is a list of BACKEND: KIND SHARE, where * means all backends. The kinds are \
            timeout, slow 300ms, close, refuse, reset, cut, garbage, or a status such as 503.

            --expect is a list of [ENDPOINT:] METRIC LIMIT. The metrics are p50, p90, p99 and max of \
            the response times, and ok, partial and failed as shares of the requests. The exit \
            status is 1 if an expectation is not met.

            EXAMPLES
              tributary simulate my.yaml                    send 1000 requests
              tributary simulate my.yaml --faults 'stock: timeout 10%, *: slow 200ms 5%'
              tributary simulate my.yaml --expect 'p99<300ms, GET /home: ok>=99%'
              tributary simulate my.yaml --latency 'reviews: 40ms-900ms' --rate 500
              tributary simulate my.yaml --pieces 'events: 200B*20' \\
                --rhythm 'events: 500ms-2s'
              tributary simulate my.yaml --only 17 --trace  show request 17 as a waterfall
              tributary simulate my.yaml --claims '{"sub":"ann","roles":["admin"]}' \\
                --scopes read
            """)

    @Argument(
        help: "The configuration, YAML or JSON; - reads standard input.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var config: String

    @Option(help: "Random seed; the same seed gives the same run.")
    var seed: UInt64 = 1

    @Option(help: "Number of requests.")
    var requests = 1000

    @Option(help: "Requests per second of virtual time, on average.")
    var rate = 100

    @Option(help: "Faults to inject, e.g. 'stock: timeout 10%'.")
    var faults: String = ""

    @Option(help: "Response times of backends, e.g. 'reviews: 40ms-900ms, *: 5ms'.")
    var latency: String = ""

    @Option(
        help: "Pieces of the responses that 'proxy' passes through, e.g. 'events: 2KiB 100B*20'.")
    var pieces: String = ""

    @Option(help: "Times between the pieces of a response, e.g. 'events: 500ms-2s'.")
    var rhythm: String = ""

    @Option(help: "Pieces of the bodies that clients send to 'proxy', by backend.")
    var uploadPieces: String = ""

    @Option(help: "Times between the pieces of a client's body, by backend.")
    var uploadRhythm: String = ""

    @Option(help: "How often optional parameters are sent, e.g. 'lang: 90%' (default: 50%).")
    var optional: String = ""

    @Option(
        help:
            "Name of the caller of protected endpoints (default: sub of --claims, else simulated).")
    var caller: String?

    @Option(
        help: "Scopes of the caller, e.g. 'read write' (default: those that the endpoint requires)."
    )
    var scopes: String?

    @Option(help: "Plan of the caller, for rate limits.")
    var plan: String?

    @Option(
        help:
            "Claims of the caller's token as JSON (default: each claim that calls use is its name)."
    )
    var claims: String?

    @Option(help: "Expectations of the results, e.g. 'p99<300ms, ok>99%'.")
    var expect: String?

    @Option(help: "Output format: text or json.")
    var format = OutputFormat.text

    @Option(help: "Show only the request with this number.")
    var only: Int?

    @Flag(help: "With --only: show the calls of the request as a waterfall.")
    var trace = false

    func validate() throws {
        if !(1...1_000_000).contains(requests) {
            throw ValidationError("--requests must be a number from 1 to 1000000")
        }
        if !(1...1_000_000).contains(rate) {
            throw ValidationError("--rate must be a number from 1 to 1000000")
        }
        if trace, only == nil {
            throw ValidationError("--trace needs --only and the number of a request")
        }
        if only != nil, expect != nil || format == .json {
            throw ValidationError("--only shows one request, without --expect and --format json")
        }
    }

    func run() throws {
        let (config, plan) = try ConfigSource(argument: config).loaded()
        var settings = RehearsalRun.Settings()
        settings.seed = seed
        settings.requests = requests
        settings.rate = rate
        do throws(AssumedCaller.InvalidClaims) {
            settings.caller = try AssumedCaller(
                name: caller, scopes: scopes.map { $0.split(separator: " ").map(String.init) },
                plan: self.plan, claims: claims)
        } catch {
            throw ValidationError("--claims must be a JSON object")
        }
        let survey = ConfigSurvey(config)
        let backends = survey.backends.map(\.name)
        let expectations: [ExpectationRule]
        do throws(RuleList.SyntaxError) {
            settings.faults = try FaultRule.list(faults, backends: backends)
            settings.latencies = try TimeRule.list(
                latency, of: "latency", backends: backends)
            settings.downloads.pieces = try PiecesRule.list(pieces, backends: backends)
            settings.downloads.rhythm = try TimeRule.list(
                rhythm, of: "rhythm", backends: backends)
            settings.uploads.pieces = try PiecesRule.list(uploadPieces, backends: backends)
            settings.uploads.rhythm = try TimeRule.list(
                uploadRhythm, of: "rhythm", backends: backends)
            try settings.checkBodies()
            settings.optional = try OptionalRule.list(
                optional, parameters: survey.optionalParameters)
            expectations =
                try expect.map { text throws(RuleList.SyntaxError) in
                    try ExpectationRule.list(text, endpoints: survey.endpoints.map(\.name))
                } ?? []
        } catch {
            throw ValidationError("\(error)")
        }
        let rehearsal = try RehearsalRun(config, plan, settings)
        let progress = SimulationProgress(of: requests)
        rehearsal.runRequests { progress.show($0) }
        progress.clear()
        defer { rehearsal.close() }
        if let only {
            guard let waterfall = Waterfall.of(only, in: rehearsal) else {
                throw ValidationError("there is no request \(only)")
            }
            return StandardStreams.printOut(waterfall)
        }
        let summary = RehearsalSummary(of: rehearsal)
        let results = expectations.map { $0.result(in: summary) }
        StandardStreams.printOut(format == .json ? summary.json(results) : summary.text)
        let failed = results.filter { !$0.isMet }
        StandardStreams.printError(failed.map { $0.line + "\n" }.joined())
        if !failed.isEmpty { throw ExitStatus.expectationsNotMet }
    }
}
