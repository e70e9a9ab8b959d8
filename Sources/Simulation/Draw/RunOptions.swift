/// Restrictions of a run, to find the cause of a failure.
package struct RunOptions: Sendable, Equatable {
    /// Faults that are switched off.
    package var without: [Fault] = []
    /// The client connections of the run, by number; nil for all.
    package var connections: [Int]?
    /// Maximum number of requests per connection; nil for all.
    package var requestsMax: Int?

    package init() {}
}
