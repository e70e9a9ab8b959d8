/// The dependencies among the calls of one endpoint, by their index in the file.
///
/// A pure value made of names and references, independent of configuration and requests.
package struct CallGraph: Sendable, Equatable {
    /// For every call, in file order, the calls whose responses it uses, ascending and once each.
    package let uses: [[Int]]
    /// The same, and the calls that it only waits for (`after`), or whose responses its condition
    /// uses.
    package let waitsFor: [[Int]]

    /// - Parameters:
    ///   - uses: the names that each call refers to; names that are not calls are ignored
    ///   - after: the names in each call's `after`; empty if no call has one
    init(names: [String], uses: [[String]], after: [[String]] = []) {
        func indices(_ used: [String]) -> [Int] {
            names.indices.filter { used.contains(names[$0]) }
        }
        self.uses = uses.map(indices)
        waitsFor = uses.indices.map { call in
            indices(uses[call] + (call < after.count ? after[call] : []))
        }
    }

    /// An order in which every call comes after those that it waits for; calls that wait for a
    /// cycle, or are in one, are missing.
    package var order: [Int] { startable(after: []).order }

    /// The cycles of calls, each of which waits for the next, and the last for the first.
    ///
    /// Every call is in one cycle at most; a call that waits for itself is a cycle of one.
    var cycles: [[Int]] {
        var found: [[Int]] = []
        while let cycle = nextCycle(without: Set(found.joined())) {
            found.append(cycle)
        }
        return found
    }

    /// Starts calls whose dependencies have started, until no further call can start.
    private func startable(after started: Set<Int>) -> (order: [Int], started: Set<Int>) {
        var started = started
        var order: [Int] = []
        var lastCount = -1
        while order.count > lastCount {
            lastCount = order.count
            for call in waitsFor.indices
            where !started.contains(call) && waitsFor[call].allSatisfy(started.contains) {
                started.insert(call)
                order.append(call)
            }
        }
        return (order, started)
    }

    private func nextCycle(without known: Set<Int>) -> [Int]? {
        let (_, started) = startable(after: known)
        guard var call = waitsFor.indices.first(where: { !started.contains($0) }) else {
            return nil
        }
        // Each remaining call waits for a remaining call, so this walk reaches a call twice.
        var walk: [Int] = []
        while !walk.contains(call) {
            walk.append(call)
            guard let next = waitsFor[call].first(where: { !started.contains($0) }) else {
                return nil
            }
            call = next
        }
        let cycle = walk.drop { $0 != call }
        let first = cycle.indices.min { cycle[$0] < cycle[$1] } ?? cycle.startIndex
        return Array(cycle[first...] + cycle[..<first])
    }
}
