/// Makes a failing run small: fewer clients, fewer requests, fewer faults, as long as it still fails in
/// the same way.
package struct Minimiser {
    private let seed: UInt64
    /// What the small run has to show as well.
    private let checker: Checker
    private(set) var options: RunOptions
    private var isStuck = false

    /// The smallest verdict found; nil for a seed that does not fail.
    package static func smallest(of verdict: Verdict) -> Verdict? {
        guard let first = verdict.violations.first else { return nil }
        // What only shows in comparing two runs is not looked for in one.
        guard first.checker != .trace else { return verdict }
        var minimiser = Minimiser(
            seed: verdict.seed, checker: first.checker, options: verdict.options)
        minimiser.shrink()
        return Verdict.of(verdict.seed, minimiser.options, comparing: false)
    }

    private init(seed: UInt64, checker: Checker, options: RunOptions) {
        self.seed = seed
        self.checker = checker
        self.options = options
    }

    private mutating func shrink() {
        while !isStuck {
            isStuck = true
            dropConnections()
            dropRequests()
            dropFaults()
        }
    }

    private mutating func keeps(_ change: (inout RunOptions) -> Void) -> Bool {
        var smaller = options
        change(&smaller)
        guard smaller != options else { return false }
        let verdict = Verdict.of(seed, smaller, comparing: false)
        guard verdict.violations.contains(where: { $0.checker == checker }) else { return false }
        options = smaller
        isStuck = false
        return true
    }

    /// Halves first, then quarters, down to single ones.
    private mutating func dropConnections() {
        var left = options.connections ?? World(seed: seed, options: options).connectionNumbers
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
        for fault in World(seed: seed, options: options).rates.active {
            _ = keeps { $0.without.append(fault) }
        }
    }
}
