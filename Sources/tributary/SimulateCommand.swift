import ArgumentParser
import Gateway
import Simulation

/// `tributary simulate [CONFIG]`
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Say what a configuration would answer, in virtual time.",
        discussion: """
            Its endpoints get requests and its backends are played; nothing is sent. The same seed
            gives the same answers. FAULTS is a list of BACKEND: KIND SHARE, with * for all backends
            and the kinds timeout, slow 300ms, close, reset, cut, garbage, or a status such as 503.

            Without a configuration the gateway itself is put to the test: each seed draws a
            configuration, clients, backends and faults, and every answer is checked.

            EXAMPLES
              tributary simulate my.yaml                             a thousand requests
              tributary simulate my.yaml --faults 'stock: timeout 10%, *: slow 200ms 5%'
              tributary simulate my.yaml --only 17 --trace           one of them as a waterfall
              tributary simulate --seeds 1000                        a thousand machine rooms
              tributary simulate --seed 17 --trace                   what happens in one of them
            """)

    @Argument(help: "The configuration, YAML or JSON; - is standard input.")
    var config: String?

    @Option(help: "Where chance begins.")
    var seed: UInt64 = 1

    @Option(help: "How many requests; without a configuration, of each connection at most.")
    var requests: Int?

    @Option(help: "What goes wrong, such as 'stock: timeout 10%'.")
    var faults: String = ""

    @Option(help: "Tell of this request only.")
    var only: Int?

    @Flag(help: "Tell what happens.")
    var trace = false

    @OptionGroup var soak: SoakOptions

    func validate() throws {
        if let requests, !(1...1_000_000).contains(requests) {
            throw ValidationError("--requests is a number from 1 to 1000000")
        }
        if config != nil, trace, only == nil {
            throw ValidationError("--trace tells of one request: add --only and its number")
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
        do throws(FaultRule.Mistake) {
            settings.faults = try FaultRule.list(
                faults, backends: ConfigSurvey(config).backends.map(\.name))
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
