import Gateway

/// The attempts that a recent request shows: all, but of lists only the first failed ones.
struct RecentAttempts {
    let count: Int
    /// Their places in the record; nil for the first ones.
    let places: [Int]?

    /// More attempts than the retries and hedges of an ordinary request.
    private static let countMax = 64
    /// Failed ones of each list.
    private static let failuresMax = 8

    init(_ record: RequestRecord) {
        guard !record.lists.isEmpty else {
            places = nil
            count = min(record.attempts.count, Self.countMax)
            return
        }
        let attempts = record.attempts
        let lists = Set(record.lists.map(\.call))
        var failures: [UInt16: Int] = [:]
        let shown = attempts.indices.filter { place in
            let attempt = attempts[place]
            guard lists.contains(Int(attempt.call)) else { return true }
            guard attempt.hasFailed else { return false }
            failures[attempt.call, default: 0] += 1
            return failures[attempt.call, default: 0] <= Self.failuresMax
        }
        places = Array(shown.prefix(Self.countMax))
        count = min(shown.count, Self.countMax)
    }

    /// The index of the attempt with this place in the record; nil for one that is not shown.
    func index(of place: Int) -> Int? {
        if let places { return places.firstIndex(of: place) }
        return place < count ? place : nil
    }

    /// The details of these attempts, and of calls.
    func details(of record: RequestRecord) -> [FailureDetail] {
        guard !record.details.isEmpty else { return [] }
        return record.details.filter { detail in
            detail.attempt.map { index(of: Int($0)) != nil } ?? true
        }
    }
}
