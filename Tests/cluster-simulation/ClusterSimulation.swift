import ArgumentParser
import Simulation

/// `cluster-simulation`, for developers: runs random simulated clusters of the gateway in virtual time, one
/// per seed, and checks their behaviour.
@main
struct ClusterSimulation: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster-simulation",
        abstract: "Run the gateway in random simulated clusters and check what it does.",
        discussion: """
            Each seed draws a configuration, clients, backends and faults. The same seed gives the same \
            run. The exit status is 1 if a seed fails.

            EXAMPLES
              cluster-simulation --seeds 1000         a thousand random clusters
              cluster-simulation --seed 17 --trace    configuration and event log of one
            """)

    @Option(help: "First seed; the same seed gives the same run.")
    var seed: UInt64 = 1

    @Option(help: "Number of seeds.")
    var seeds: UInt64 = 1

    @Option(help: "Maximum number of requests per connection.")
    var requests: Int?

    @Option(help: "Only these client connections, by number, e.g. 3,4.")
    var connections: String?

    @Option(help: "Faults that are switched off, e.g. resets,stalls.")
    var without: String?

    @Option(help: "Only the runs of this kind: aggregates, streams or http2.")
    var only: String?

    @Flag(help: "Stop at the first seed that fails.")
    var untilFailure = false

    @Flag(help: "Fail also if no seed reaches one of the statuses, failures, faults or behaviours.")
    var coverage = false

    @Flag(help: "Show configuration and events of one seed.")
    var trace = false

    func validate() throws {
        if let requests, requests < 1 { throw ValidationError("--requests is at least 1") }
    }

    func run() throws {
        let options = try runOptions
        SeedAtCrash.watch()
        SeedAtCrash.begin(seed)
        if trace {
            print(SeedResult.transcript(seed, options), terminator: "")
        } else {
            try runSeeds(options)
        }
    }

    private func runSeeds(_ options: RunOptions) throws {
        var (count, requests, calls, streams, failed) = (0, 0, 0, 0, 0)
        var covered = Coverage()
        var excuses = ExcuseCounts()
        for number in 0..<seeds {
            // Seeds wrap around, so that every first seed is a valid one.
            SeedAtCrash.begin(seed &+ number)
            let result = SeedResult.of(seed &+ number, options)
            count += 1
            requests += result.requests
            calls += result.attempts
            streams += result.streams
            covered.add(result.coverage)
            excuses.add(result)
            guard !result.passed else { continue }
            failed += 1
            print(result.report, terminator: "")
            if untilFailure { break }
        }
        // The last line is the one that scripts read.
        if !covered.reached.isEmpty {
            print("reached: \(covered.reached.joined(separator: ", "))")
        }
        print("excused: \(excuses.text)")
        print(
            "\(count) seeds, \(requests) requests, \(calls) calls, \(streams) streams:"
                + " \(failed) failed")
        if coverage, !covered.missing.isEmpty {
            print("not reached: \(covered.missing.joined(separator: ", "))")
            throw ExitCode.failure
        }
        // Of fewer seeds, one may use an excuse for many requests.
        if count >= 200, !excuses.exceeded.isEmpty {
            print("excused too often: \(excuses.exceeded.joined(separator: ", "))")
            throw ExitCode.failure
        }
        if failed > 0 { throw ExitCode.failure }
    }

    private var runOptions: RunOptions {
        get throws {
            var options = RunOptions()
            options.requestsMax = requests
            options.kind = try only.map { name in
                guard let kind = ClusterPlan.Kind(rawValue: name) else {
                    throw ValidationError("--only is aggregates, streams or http2: \(name)")
                }
                return kind
            }
            options.connections = try connections.map { list in
                try list.split(separator: ",").map { number in
                    guard let number = Int(number) else {
                        throw ValidationError(
                            "--connections is a list of numbers, e.g. 3,4: \(list)")
                    }
                    return number
                }
            }
            options.without = try (without ?? "").split(separator: ",").map { name in
                guard let fault = Fault(rawValue: String(name)) else {
                    let known = Fault.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("unknown fault '\(name)' (known: \(known))")
                }
                return fault
            }
            return options
        }
    }
}
