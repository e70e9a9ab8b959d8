import Rehearsal

/// Makes a run small that shows something: fewer clients, fewer requests, fewer faults, as long as it
/// still shows it.
struct Minimiser {
    private let seed: UInt64
    private let shows: (RunOptions) -> Bool
    private(set) var options: RunOptions
    private var isStuck = false

    /// The smallest verdict found that has a violation of the same checker; nil for a seed that does
    /// not fail.
    static func smallest(of verdict: Verdict) -> Verdict? {
        guard let checker = verdict.violations.first?.checker else { return nil }
        // What only shows in comparing two runs is not looked for in one.
        guard checker != .trace else { return verdict }
        let options = smallest(verdict.seed, verdict.options) { options in
            Verdict.of(verdict.seed, options, comparing: false).violations
                .contains { $0.checker == checker }
        }
        return Verdict.of(verdict.seed, options, comparing: false)
    }

    /// The smallest options found with which a seed shows it.
    static func smallest(
        _ seed: UInt64, _ options: RunOptions, shows: @escaping (RunOptions) -> Bool
    ) -> RunOptions {
        var minimiser = Minimiser(seed: seed, shows: shows, options: options)
        while !minimiser.isStuck {
            minimiser.isStuck = true
            minimiser.dropConnections()
            minimiser.dropRequests()
            minimiser.dropFaults()
        }
        return minimiser.options
    }

    private init(seed: UInt64, shows: @escaping (RunOptions) -> Bool, options: RunOptions) {
        self.seed = seed
        self.shows = shows
        self.options = options
    }

    /// Makes a change if the run shows it still.
    private mutating func keeps(_ change: (inout RunOptions) -> Void) -> Bool {
        var smaller = options
        change(&smaller)
        guard smaller != options, shows(smaller) else { return false }
        options = smaller
        isStuck = false
        return true
    }

    /// Halves first, then quarters, down to single ones.
    private mutating func dropConnections() {
        var left =
            options.connections
            ?? ClusterPlan(seed: seed, options: options).connections.map(\.number)
        var size = max(1, left.count / 2)
        while true {
            var start = 0
            while start < left.count, left.count > 1 {
                let fewer = Array(left[..<start] + left[min(start + size, left.count)...])
                if !fewer.isEmpty, keeps({ $0.connections = fewer }) {
                    left = fewer
                } else {
                    start += size
                }
            }
            if size == 1 { break }
            size /= 2
        }
    }

    private mutating func dropRequests() {
        for count in 1...5 where count < options.requestsMax ?? .max {
            if keeps({ $0.requestsMax = count }) { break }
        }
    }

    private mutating func dropFaults() {
        for fault in ClusterPlan(seed: seed, options: options).rates.active {
            _ = keeps { $0.without.append(fault) }
        }
    }
}
