import HTTPClient

/// One call of a request: when it ran and what became of it. A plain value in its `RequestRecord`, at
/// the call's index.
package struct CallRecord: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        /// The call was not made, still runs, or its response is being streamed.
        case none
        case succeeded
        case failed(CallFailureKind)
    }

    /// When its request was built and handed to its chain; `never` for a call that sent nothing.
    package internal(set) var began = Moment.never
    /// When it had its part, or had failed; of a streamed response, when its head had arrived.
    package private(set) var ended = Moment.never
    package internal(set) var outcome = Outcome.none
    /// How many attempts began.
    package internal(set) var begunAttempts: UInt16 = 0
    /// How many of them ended without a host, because the gateway refused them.
    var refusedAttempts: UInt16 = 0
    /// The attempt whose response was used, as its place in the record's attempts.
    package internal(set) var decidingAttempt: UInt16?

    package init() {}

    /// It began and has not ended.
    package var isInFlight: Bool { began.hasHappened && !ended.hasHappened }

    /// How many attempts were handed to a host; of a call that runs, also those that wait for a
    /// permit.
    package var attempts: UInt16 { begunAttempts &- refusedAttempts }

    /// Whether its response is being streamed, so that its outcome is not decided yet.
    var isStreamed: Bool { if case .none = outcome { ended.hasHappened } else { false } }

    mutating func end(_ outcome: Outcome, at now: Moment) {
        self.outcome = outcome
        ended = now
    }
}
