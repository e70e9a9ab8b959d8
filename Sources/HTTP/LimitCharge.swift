/// A rate limit that a request was charged to, so that a later refusal can refund it.
package struct LimitCharge: Sendable, Equatable {
    /// The limit, by its index in the endpoint's list.
    package let limit: Int
    /// The bucket of the limit: 0 for that of its rate, then those of its plans.
    package let bucket: Int
    /// The hash that selects the cell.
    package let key: UInt64
    /// When the bucket would be full again after the charge, in units of `TokenBucket`.
    package let arrival: Int64

    package init(limit: Int, bucket: Int, key: UInt64, arrival: Int64) {
        self.limit = limit
        self.bucket = bucket
        self.key = key
        self.arrival = arrival
    }
}
