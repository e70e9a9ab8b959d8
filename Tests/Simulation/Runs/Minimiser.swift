import Rehearsal

/// Reduces a run that shows a violation: fewer connections, requests and faults, as long as the run
/// reproduces it.
struct Minimiser {
    private let seed: UInt64
    private let reproduces: (RunOptions) -> Bool
    private(set) var options: RunOptions
    private var isUnchanged = false

    /// The smallest result found with a violation of the same checker; nil for a seed that does not
    /// fail.
    static func smallest(of result: SeedResult) -> SeedResult? {
        guard let checker = result.violations.first?.checker else { return nil }
        // A difference between two runs does not show in one of them.
        guard checker != .trace else { return result }
        let options = smallest(result.seed, result.options) { options in
            SeedResult.of(result.seed, options, comparing: false).violations
                .contains { $0.checker == checker }
        }
        return SeedResult.of(result.seed, options, comparing: false)
    }

    /// The smallest options found that reproduce the violation.
    static func smallest(
        _ seed: UInt64, _ options: RunOptions, reproduces: @escaping (RunOptions) -> Bool
    ) -> RunOptions {
        var minimiser = Minimiser(seed: seed, reproduces: reproduces, options: options)
        for kind in ClusterPlan.Kind.allCases where minimiser.options.kind == nil {
            _ = minimiser.tryChange { $0.kind = kind }
        }
        while !minimiser.isUnchanged {
            minimiser.isUnchanged = true
            minimiser.dropConnections()
            minimiser.dropRequests()
            minimiser.dropFaults()
        }
        return minimiser.options
    }

    private init(seed: UInt64, reproduces: @escaping (RunOptions) -> Bool, options: RunOptions) {
        self.seed = seed
        self.reproduces = reproduces
        self.options = options
    }

    /// Applies a change if the run still reproduces the violation.
    private mutating func tryChange(_ change: (inout RunOptions) -> Void) -> Bool {
        var smaller = options
        change(&smaller)
        guard smaller != options, reproduces(smaller) else { return false }
        options = smaller
        isUnchanged = false
        return true
    }

    /// Drops halves first, then quarters, and so on down to single connections.
    private mutating func dropConnections() {
        var remaining =
            options.connections
            ?? options.kinds.flatMap {
                let plan = ClusterPlan(seed: seed, options: options, $0)
                return plan.connections.map(\.number) + plan.streams.map(\.number)
            }
        var size = max(1, remaining.count / 2)
        while true {
            var start = 0
            while start < remaining.count, remaining.count > 1 {
                let fewer = Array(
                    remaining[..<start] + remaining[min(start + size, remaining.count)...])
                if !fewer.isEmpty, tryChange({ $0.connections = fewer }) {
                    remaining = fewer
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
            if tryChange({ $0.requestsMax = count }) { break }
        }
    }

    private mutating func dropFaults() {
        let active = options.kinds.flatMap {
            ClusterPlan(seed: seed, options: options, $0).rates.active
        }
        for fault in active {
            _ = tryChange { $0.without.append(fault) }
        }
    }
}
