import SimReactor

/// What became of one seed.
package struct Verdict: Sendable {
    package let seed: UInt64
    package let options: RunOptions
    package let violations: [Violation]
    /// Of everything that happened on the network.
    package let hash: UInt64
    package let requests: Int
    package let attempts: Int

    package var isFine: Bool { violations.isEmpty }

    /// The one command that shows this run again.
    package var replay: String {
        var words = ["tributary simulate --seed \(seed)"]
        if let connections = options.connections {
            words.append("--connections \(connections.map(String.init).joined(separator: ","))")
        }
        if let requests = options.requestsMax { words.append("--requests \(requests)") }
        if !options.without.isEmpty {
            words.append("--without \(options.without.map(\.rawValue).joined(separator: ","))")
        }
        return words.joined(separator: " ") + " --trace"
    }

    /// What failed, small, with its story and the command to see it again.
    package var report: String {
        guard let smallest = Minimiser.smallest(of: self), !isFine else { return "" }
        var text = "seed \(seed) fails:\n"
        for violation in smallest.violations { text += "  \(violation)\n" }
        return text + "again: \(smallest.replay)\n"
    }

    /// The configuration of a seed, and what happens in its run.
    package static func story(_ seed: UInt64, _ options: RunOptions) -> String {
        let world = World(seed: seed, options: options)
        _ = world.run(forgetting: false)
        defer { world.forget() }
        return world.configText + "\n" + Story.of(world)
    }

    /// Runs a seed, twice where the two runs are to be compared.
    package static func of(
        _ seed: UInt64, _ options: RunOptions = RunOptions(), comparing: Bool = true
    ) -> Verdict {
        let first = run(seed, options)
        guard comparing, first.isFine else { return first }
        let second = run(seed, options)
        guard first.hash != second.hash else { return first }
        let difference = Violation(
            checker: .trace, mark: nil,
            text: "two runs of the same seed: \(first.hash) and \(second.hash)")
        return Verdict(
            seed: seed, options: options, violations: [difference], hash: first.hash,
            requests: first.requests, attempts: first.attempts)
    }

    private static func run(_ seed: UInt64, _ options: RunOptions) -> Verdict {
        let world = World(seed: seed, options: options)
        let violations = world.run()
        return Verdict(
            seed: seed, options: options, violations: violations, hash: world.trace.hash,
            requests: world.clients.reduce(0) { $0 + $1.sent.count },
            attempts: world.attempts.count)
    }
}
