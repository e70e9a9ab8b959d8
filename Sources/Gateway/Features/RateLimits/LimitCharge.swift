/// A rate limit that a request was charged to, so that a later refusal can refund it.
struct LimitCharge: Sendable, Equatable {
    /// The limit, by its index in the endpoint's list.
    let limit: Int
    /// The bucket of the limit: 0 for the bucket of its rate, then the buckets of its plans.
    let bucket: Int
    /// The hash that selects the cell.
    let key: UInt64
    /// How many requests were charged.
    let cost: Int
    /// When the bucket would be full again after the charge, in units of `TokenBucket`.
    let arrival: Int64
}
