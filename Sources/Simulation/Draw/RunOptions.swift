/// What a run is made of, beside its seed: everything, or less for somebody who looks for the cause of
/// a failure.
package struct RunOptions: Sendable, Equatable {
    /// Faults that do not happen.
    package var without: [Fault] = []
    /// Connections of clients that are there, by their numbers; nil for all.
    package var connections: [Int]?
    /// Requests of each connection, at most; nil for all.
    package var requestsMax: Int?

    package init() {}
}
