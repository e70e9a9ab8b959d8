/// `paths: strict` of an endpoint.
struct PathRulePlan {
    /// The endpoints that its paths could bypass, by their indices.
    let bypassed: [Int]
}
