import Promises

/// What the limits of one position decide about a request.
enum LimitDecision {
    /// With the limits to announce, and the charges of limits that replicas share.
    case granted([GrantedLimit], [SharedCharge])
    case refused(LimitRefusal)
    /// The store decides.
    case later(LocalPromise<LimitDecision>)
}

/// A limit that granted a request, for the header fields.
struct GrantedLimit {
    let limit: LimitPlan
    let rate: LimitPlan.Rate
    /// When the bucket is full again, in units of `TokenBucket`.
    let arrival: Int64
}
