/// What became of the spans of a process, for its metrics.
struct SpanCounts: Sendable, Equatable {
    /// Why spans are lost.
    enum Loss: String, Sendable, CaseIterable {
        /// Too many spans waited for the collector.
        case queueFull = "queue_full"
        /// The collector refused them.
        case rejected
        /// The collector did not accept them in time.
        case undelivered
    }

    var exported = 0
    var queueFull = 0
    var rejected = 0
    var undelivered = 0

    /// The spans that were lost for a reason.
    subscript(loss: Loss) -> Int {
        switch loss {
        case .queueFull: queueFull
        case .rejected: rejected
        case .undelivered: undelivered
        }
    }
}
