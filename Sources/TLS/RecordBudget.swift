import Basics

/// What a peer may spend on TLS records without data, which cost it little and this side much: key
/// updates (RFC 8446 4.6.3), warnings, refused renegotiations, empty fragments. The handshake, too, has to do with as
/// many records.
///
/// 64 records, refilled by one per second: a handshake has fewer than ten, and peers update their keys
/// once in millions of records. The time is a parameter.
struct RecordBudget {
    static let burst = 64
    private static let bucket = TokenBucket(count: 1, per: .seconds(1), burst: burst)

    /// When the budget will be full again, in units of the bucket.
    private var arrival: Int64 = 0

    /// Subtracts a record; false if the budget is used up.
    mutating func charge(at now: Instant) -> Bool {
        guard
            let new = Self.bucket?.arrival(
                charging: 1, to: arrival, at: TokenBucket.time(of: now))
        else { return false }
        arrival = new
        return true
    }

    /// The record had data after all.
    mutating func refund() {
        guard let bucket = Self.bucket else { return }
        arrival = max(0, bucket.arrival(refunding: 1, to: arrival))
    }
}
