import ArgumentParser
import Simulation

/// What is only said where the gateway itself is put to the test.
struct SoakOptions: ParsableArguments {
    @Option(help: "How many seeds, one after the other.")
    var seeds: UInt64 = 1

    @Option(help: "Only these connections of clients, by number: 3,4")
    var connections: String?

    @Option(help: "Faults that do not happen: resets,stalls")
    var without: String?

    @Flag(help: "End with the first seed that fails.")
    var untilFailure = false
}

/// The gateway put to the test, seed by seed.
struct Soak {
    let seed: UInt64
    let requests: Int?
    let options: SoakOptions

    func run(tracing: Bool) throws {
        let runOptions = try runOptions
        if tracing { return StandardStreams.printOut(Verdict.story(seed, runOptions)) }
        var (seeds, requests, calls, failed) = (0, 0, 0, 0)
        for number in 0..<options.seeds {
            // Seeds wrap around, so that every first seed is a valid one.
            let verdict = Verdict.of(seed &+ number, runOptions)
            seeds += 1
            requests += verdict.requests
            calls += verdict.attempts
            guard !verdict.isFine else { continue }
            failed += 1
            StandardStreams.printOut(verdict.report)
            if options.untilFailure { break }
        }
        StandardStreams.printOut(
            "\(seeds) seeds, \(requests) requests, \(calls) calls: \(failed) failed\n")
        if failed > 0 { throw ExitStatus.internalError }
    }

    private var runOptions: RunOptions {
        get throws {
            var runOptions = RunOptions()
            runOptions.requestsMax = requests
            runOptions.connections = try options.connections.map { list in
                try list.split(separator: ",").map { number in
                    guard let number = Int(number) else {
                        throw ValidationError("write connections like 3,4: \(list)")
                    }
                    return number
                }
            }
            runOptions.without = try (options.without ?? "").split(separator: ",").map { name in
                guard let fault = Fault(rawValue: String(name)) else {
                    let known = Fault.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("no fault is called \(name); there are \(known)")
                }
                return fault
            }
            return runOptions
        }
    }
}
