import ArgumentParser
import Simulation

/// `tributary simulate CONFIG`
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Say what a configuration would answer, in virtual time.")

    @Option(help: "Where chance begins.")
    var seed: UInt64 = 1

    @Option(help: "How many seeds, one after the other.")
    var seeds: UInt64 = 1

    @Flag(help: "Tell what happens.")
    var trace = false

    func run() throws {
        if trace { return StandardStreams.printOut(Verdict.story(seed, RunOptions())) }
        var failed = 0
        for seed in seed..<seed + seeds {
            let verdict = Verdict.of(seed)
            if !verdict.isFine { failed += 1 }
            for violation in verdict.violations.prefix(4) {
                StandardStreams.printOut("seed \(seed): \(violation)\n")
            }
        }
        StandardStreams.printOut("\(seeds) seeds, \(failed) failed\n")
    }
}
