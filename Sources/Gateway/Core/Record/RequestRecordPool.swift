package import Basics

/// The records of one worker that are not in use, so that a request finds one with memory for its
/// calls. Owned by the server, confined to its loop.
package final class RequestRecordPool {
    private var free: [RequestRecord] = []

    /// How many are kept.
    ///
    /// 1024: more than most workers have requests in flight, and about 1 MiB with three calls each.
    private static let keptMax = 1024
    private static let attemptsMax = 64

    package init() {}

    /// An empty record for a request whose head is complete now.
    package func take(began: Instant) -> RequestRecord {
        guard let record = free.popLast() else { return RequestRecord(began: began) }
        record.reset(began: began)
        return record
    }

    /// Takes back a record that nothing uses any more.
    package func give(_ record: consuming RequestRecord) {
        // The attempts of a long list would take memory for ever.
        guard free.count < Self.keptMax, record.attempts.count <= Self.attemptsMax else { return }
        free.append(record)
    }
}
