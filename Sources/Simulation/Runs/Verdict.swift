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
        var words = ["swift run -c release cluster-simulation --seed \(seed)"]
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

    /// The configurations of a seed, those of reloads too, and what happens in its run.
    package static func transcript(_ seed: UInt64, _ options: RunOptions) -> String {
        let record = Cluster(seed: seed, options: options).run()
        let found = (record.violations + Checks.violations(in: record)).map { "wrong: \($0)\n" }
            .joined()
        let texts = record.configs.map { ConfigText.of($0) + "\n" }.joined()
        return texts + Transcript.of(record) + found
    }

    /// Runs a seed, twice where the two runs are to be compared.
    package static func of(
        _ seed: UInt64, _ options: RunOptions = RunOptions(), comparing: Bool = true
    ) -> Verdict {
        let cluster = Cluster(seed: seed, options: options)
        let record = cluster.run()
        var violations = record.violations + Checks.violations(in: record)
        if comparing, violations.isEmpty {
            let second = cluster.again().run()
            violations = second.violations
            if record.hash != second.hash {
                violations.append(
                    Violation(
                        checker: .trace, mark: nil,
                        text: "two runs: \(record.hash) and \(second.hash)"))
            }
        }
        return Verdict(
            seed: seed, options: options, violations: violations, hash: record.hash,
            requests: record.clients.reduce(0) { $0 + $1.sent.count },
            attempts: record.attempts.count)
    }
}
