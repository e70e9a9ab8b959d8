import ArgumentParser
import Gateway
import Simulation

/// `tributary simulate [CONFIG]`
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate a configuration in virtual time and report its responses.",
        discussion: """
            Clients and backends are simulated; nothing is sent. The same seed gives the same run.

            FAULTS is a list of BACKEND: KIND SHARE, where * stands for all backends. The kinds are
            timeout, slow 300ms, close, refuse, reset, cut, garbage, or a status such as 503.

            Without a configuration the gateway tests itself: each seed makes a configuration, clients,
            backends and faults at random, and every response is checked.

            EXAMPLES
              tributary simulate my.yaml                             a thousand requests
              tributary simulate my.yaml --faults 'stock: timeout 10%, *: slow 200ms 5%'
              tributary simulate my.yaml --latency 'reviews: 40ms-900ms' --rate 500
              tributary simulate my.yaml --only 17 --trace           one of them as a waterfall
              tributary simulate --seeds 1000                        a thousand random clusters
              tributary simulate --seed 17 --trace                   the event log of one of them
            """)

    @Argument(help: "The configuration, YAML or JSON; - is standard input.")
    var config: String?

    @Option(help: "Random seed; the same seed gives the same run.")
    var seed: UInt64 = 1

    @Option(help: "Number of requests; without a configuration, at most so many per connection.")
    var requests: Int?

    @Option(help: "Requests per second of virtual time, on average (default: 100).")
    var rate: Int?

    @Option(help: "Faults to inject, e.g. 'stock: timeout 10%'.")
    var faults: String = ""

    @Option(help: "Response times of backends, e.g. 'reviews: 40ms-900ms, *: 5ms'.")
    var latency: String = ""

    @Option(help: "How often optional parameters are sent, e.g. 'lang: 90%' (default: 50%).")
    var optional: String = ""

    @Option(help: "Show only the request with this number.")
    var only: Int?

    @Flag(help: "Show what happens, event by event.")
    var trace = false

    @OptionGroup var soak: SoakOptions

    func validate() throws {
        if let requests, !(1...1_000_000).contains(requests) {
            throw ValidationError("--requests is a number from 1 to 1000000")
        }
        if let rate, !(1...1_000_000).contains(rate) {
            throw ValidationError("--rate is a number from 1 to 1000000")
        }
        if config != nil, trace, only == nil {
            throw ValidationError("--trace shows one request: add --only and its number")
        }
        if config == nil, rate != nil || !faults.isEmpty || !latency.isEmpty || !optional.isEmpty {
            throw ValidationError(
                "--rate, --faults, --latency and --optional need a configuration")
        }
    }

    func run() throws {
        if let config {
            try rehearse(config)
        } else {
            try Soak(seed: seed, requests: requests, options: soak).run(tracing: trace)
        }
    }

    private func rehearse(_ path: String) throws {
        let (config, plan) = try ConfigSource(argument: path).loaded()
        var settings = Rehearsal.Settings()
        settings.seed = seed
        settings.requests = requests ?? 1000
        settings.rate = rate ?? settings.rate
        let survey = ConfigSurvey(config)
        let backends = survey.backends.map(\.name)
        do throws(RuleList.Mistake) {
            settings.faults = try FaultRule.list(faults, backends: backends)
            settings.latencies = try LatencyRule.list(latency, backends: backends)
            settings.optional = try OptionalRule.list(
                optional, parameters: survey.optionalParameters)
        } catch {
            throw ValidationError("\(error)")
        }
        let rehearsal = try Rehearsal(config, plan, settings)
        rehearsal.run()
        if let only {
            guard let waterfall = Waterfall.of(only, in: rehearsal) else {
                throw ValidationError("there is no request \(only)")
            }
            StandardStreams.printOut(waterfall)
        } else {
            StandardStreams.printOut(RehearsalReport.of(rehearsal))
        }
        rehearsal.close()
    }
}
