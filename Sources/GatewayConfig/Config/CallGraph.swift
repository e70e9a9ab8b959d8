/// Who waits for whom among the calls of one endpoint, by their place in the file.
///
/// Pure: made of names and references, it knows neither configuration nor requests.
package struct CallGraph: Sendable, Equatable {
    /// For every call, in file order, the calls whose answers it uses, ascending and once each.
    package let uses: [[Int]]
    /// The same, with the calls that it only waits for (`after`).
    package let waitsFor: [[Int]]

    /// - Parameters:
    ///   - uses: what each call refers to; names that are no calls are left out
    ///   - after: the names in each call's `after`; empty, no call has one
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

    /// The calls that wait for each other in a ring, each for the next and the last for the first.
    ///
    /// Every call is in one ring at most; a call that waits for itself is a ring of one.
    var cycles: [[Int]] {
        var found: [[Int]] = []
        while let cycle = nextCycle(without: Set(found.joined())) {
            found.append(cycle)
        }
        return found
    }

    /// Starts calls, none of which waits for a call that has not started, until none is left to.
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
        // What is left waits for something that is left, so this walk must come back.
        var walk: [Int] = []
        while !walk.contains(call) {
            walk.append(call)
            guard let next = waitsFor[call].first(where: { !started.contains($0) }) else {
                return nil
            }
            call = next
        }
        let ring = walk.drop { $0 != call }
        let turn = ring.indices.min { ring[$0] < ring[$1] } ?? ring.startIndex
        return Array(ring[turn...] + ring[..<turn])
    }
}
