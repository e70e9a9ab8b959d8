import ArgumentParser
import Simulation

/// `tributary simulate [CONFIG]`
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Say what a configuration would answer, in virtual time.",
        discussion: """
            Without a configuration the gateway itself is put to the test: each seed draws a
            configuration, clients, backends and faults, and every answer is checked.

            EXAMPLES
              tributary simulate --seed 1 --seeds 1000       a thousand machine rooms
              tributary simulate --seed 17 --trace           what happens in one of them
            """)

    @Option(help: "Where chance begins.")
    var seed: UInt64 = 1

    @Option(help: "How many seeds, one after the other.")
    var seeds: UInt64 = 1

    @Option(help: "Requests of each connection, at most.")
    var requests: Int?

    @Option(help: "Only these connections of clients, by number: 3,4")
    var connections: String?

    @Option(help: "Faults that do not happen: resets,stalls")
    var without: String?

    @Flag(help: "Tell what happens.")
    var trace = false

    func run() throws {
        let options = try options
        if trace {
            StandardStreams.printOut(Verdict.story(seed, options))
            return
        }
        var (requests, calls, failed) = (0, 0, 0)
        for seed in seed..<seed &+ seeds {
            let verdict = Verdict.of(seed, options)
            requests += verdict.requests
            calls += verdict.attempts
            guard !verdict.isFine else { continue }
            failed += 1
            StandardStreams.printOut(verdict.report)
        }
        StandardStreams.printOut(
            "\(seeds) seeds, \(requests) requests, \(calls) calls: \(failed) failed\n")
        if failed > 0 { throw ExitStatus.internalError }
    }

    private var options: RunOptions {
        get throws {
            var options = RunOptions()
            options.requestsMax = requests
            options.connections = try connections.map { list in
                try list.split(separator: ",").map { number in
                    guard let number = Int(number) else {
                        throw ValidationError("write connections like 3,4: \(list)")
                    }
                    return number
                }
            }
            options.without = try (without ?? "").split(separator: ",").map { name in
                guard let fault = Fault(rawValue: String(name)) else {
                    let known = Fault.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("no fault is called \(name); there are \(known)")
                }
                return fault
            }
            return options
        }
    }
}
