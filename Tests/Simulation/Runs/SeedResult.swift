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
    package let streams: Int
    package let coverage: Coverage
    package let excuses: [Excuse: Int]

    package var passed: Bool { violations.isEmpty }

    /// The command that repeats this run.
    package var replay: String {
        var words = ["swift run -c release cluster-simulation --seed \(seed)"]
        if let kind = options.kind { words.append("--only \(kind.rawValue)") }
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
        let runs = options.kinds.map { kind in
            let record = Cluster(seed: seed, options: options, kind).runToEnd()
            let found = (record.violations + Checks.violations(in: record))
            return record.configs.map { $0.text + "\n" }.joined()
                + Transcript.of(record) + lines(found)
        }
        return runs.joined(separator: "\n") + lines(IssuerRun.violations(seed: seed))
    }

    private static func lines(_ violations: [Violation]) -> String {
        violations.map { "violation: \($0)\n" }.joined()
    }

    /// Runs a seed.
    ///
    /// - Parameter comparing: whether to run it a second time, which must do the same: every second
    ///   seed, one kind of its runs
    package static func of(
        _ seed: UInt64, _ options: RunOptions = RunOptions(), comparing: Bool = true
    ) -> SeedResult {
        let clusters = options.kinds.map { Cluster(seed: seed, options: options, $0) }
        let records = clusters.map { $0.runToEnd() }
        var violations = records.flatMap { $0.violations + Checks.violations(in: $0) }
        if options.kind == nil || options.kind == .aggregates {
            violations += IssuerRun.violations(seed: seed)
        }
        if comparing, violations.isEmpty {
            for (cluster, record) in zip(clusters, records)
            where clusters.count == 1 || seed % 4 == cluster.plan.kind.comparedSeeds {
                let second = cluster.copy().runToEnd()
                violations += second.violations
                if record.hash != second.hash {
                    violations.append(
                        Violation(
                            checker: .trace, mark: nil,
                            text: "two runs differ: \(record.hash) and \(second.hash)"))
                }
            }
        }
        // A run of its own, of every fourth seed: it takes several seconds of virtual time.
        if comparing, options.connections == nil, options.kind == nil, seed % 4 == 1 {
            violations += StoreRun.violations(of: seed)
        }
        return SeedResult(
            seed: seed, options: options, violations: violations,
            hash: records.reduce(0) { $0 &* 31 ^ $1.hash },
            requests: records.flatMap(\.clients).reduce(0) { $0 + $1.sent.count },
            attempts: records.reduce(0) { $0 + $1.attempts.count },
            streams: records.reduce(0) { $0 + $1.streamAttempts.count },
            coverage: Coverage(of: records),
            excuses: records.reduce(into: [:]) {
                $0.merge($1.excuses.counts, uniquingKeysWith: +)
            })
    }
}

extension ClusterPlan.Kind {
    /// The seeds whose runs of this kind are compared, by their remainder by four.
    fileprivate var comparedSeeds: UInt64 {
        switch self {
        case .aggregates: 0
        case .streams: 2
        case .http2: 1
        }
    }
}
