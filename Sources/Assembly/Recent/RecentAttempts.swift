import Gateway

/// The attempts that a recent request shows: all, but of lists only the first failed ones.
struct RecentAttempts {
    let count: Int
    private let all: [AttemptRecord]
    /// Nil for the first ones.
    private let places: [Int]?

    /// More attempts than the retries and hedges of an ordinary request.
    private static let countMax = 64
    /// Failed ones of each list.
    private static let failuresMax = 8

    init(_ record: RequestRecord) {
        all = record.attempts
        guard !record.lists.isEmpty else {
            places = nil
            count = min(all.count, Self.countMax)
            return
        }
        let lists = Set(record.lists.map(\.call))
        var failures: [UInt16: Int] = [:]
        let shown = all.indices.filter { [all] place in
            let attempt = all[place]
            guard lists.contains(Int(attempt.call)) else { return true }
            guard attempt.hasFailed else { return false }
            failures[attempt.call, default: 0] += 1
            return failures[attempt.call, default: 0] <= Self.failuresMax
        }
        places = Array(shown.prefix(Self.countMax))
        count = min(shown.count, Self.countMax)
    }

    subscript(index: Int) -> AttemptRecord { all[places?[index] ?? index] }

    /// The index of the attempt with this place in the record; nil for one that is not shown.
    func index(of place: Int) -> Int? {
        if let places { return places.firstIndex(of: place) }
        return place < count ? place : nil
    }
}
