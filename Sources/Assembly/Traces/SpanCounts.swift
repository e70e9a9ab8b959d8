/// What became of the spans of a process, for its metrics.
package struct SpanCounts: Sendable, Equatable {
    /// Why spans are lost.
    package enum Loss: String, Sendable, CaseIterable {
        /// Too many spans waited for the collector.
        case queueFull = "queue_full"
        /// The collector refused them.
        case rejected
        /// The collector did not accept them in time.
        case undelivered
    }

    package var exported = 0
    package var queueFull = 0
    package var rejected = 0
    package var undelivered = 0

    package init() {}

    /// The spans that were lost for a reason.
    package subscript(loss: Loss) -> Int {
        switch loss {
        case .queueFull: queueFull
        case .rejected: rejected
        case .undelivered: undelivered
        }
    }
}
