/// Restrictions of a run, to find the cause of a failure.
package struct RunOptions: Sendable, Equatable {
    /// Only this kind of run of the seed; nil for all.
    package var kind: ClusterPlan.Kind?
    /// Faults that are switched off.
    package var without: [Fault] = []
    /// The client connections of the run, by number; nil for all.
    package var connections: [Int]?
    /// Maximum number of requests per connection; nil for all.
    package var requestsMax: Int?

    package init() {}

    /// The kinds of runs of the seed.
    var kinds: [ClusterPlan.Kind] { kind.map { [$0] } ?? ClusterPlan.Kind.allCases }
}
