import SimReactor

/// The result of one seed.
package struct SeedResult: Sendable {
    package let seed: UInt64
    package let options: RunOptions
    package let violations: [Violation]
    /// Hash of all events on the network.
    package let hash: UInt64
    package let requests: Int
    package let attempts: Int

    package var passed: Bool { violations.isEmpty }

    /// The command that repeats this run.
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

    /// The violations of the smallest failing run, with the command that repeats it; empty for a seed that
    /// passed.
    package var report: String {
        if violations.contains(where: { $0.checker == .store }) {
            return "seed \(seed) fails:\n" + violations.map { "  \($0)\n" }.joined()
                + "replay: \(replay)\n"
        }
        guard let smallest = Minimiser.smallest(of: self), !passed else { return "" }
        var text = "seed \(seed) fails:\n"
        for violation in smallest.violations { text += "  \(violation)\n" }
        return text + "replay: \(smallest.replay)\n"
    }

    /// The configurations of a seed, including those of reloads, and the transcript of its run.
    package static func transcript(_ seed: UInt64, _ options: RunOptions) -> String {
        let record = Cluster(seed: seed, options: options).runToEnd()
        let found =
            (record.violations + Checks.violations(in: record)
            + IssuerRun.violations(seed: seed)).map { "violation: \($0)\n" }
            .joined()
        let texts = record.configs.map { ConfigText.of($0) + "\n" }.joined()
        return texts + Transcript.of(record) + found
    }

    /// Runs a seed; twice if the two runs are to be compared.
    package static func of(
        _ seed: UInt64, _ options: RunOptions = RunOptions(), comparing: Bool = true
    ) -> SeedResult {
        let cluster = Cluster(seed: seed, options: options)
        let record = cluster.runToEnd()
        var violations = record.violations + Checks.violations(in: record)
        violations += IssuerRun.violations(seed: seed)
        if comparing, violations.isEmpty {
            let second = cluster.copy().runToEnd()
            violations = second.violations
            if record.hash != second.hash {
                violations.append(
                    Violation(
                        checker: .trace, mark: nil,
                        text: "two runs differ: \(record.hash) and \(second.hash)"))
            }
        }
        // A run of its own, of every fourth seed: it takes several seconds of virtual time.
        if comparing, options.connections == nil, seed % 4 == 1 {
            violations += StoreRun.violations(of: seed)
        }
        return SeedResult(
            seed: seed, options: options, violations: violations, hash: record.hash,
            requests: record.clients.reduce(0) { $0 + $1.sent.count },
            attempts: record.attempts.count)
    }
}
