/// One call of a request: when it ran and what became of it. A plain value in its `RequestRecord`, at
/// the call's index.
package struct CallRecord: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        /// The call was not made, or still runs.
        case none
        case succeeded
        case failed(CallFailureKind)
    }

    /// When its request was built and handed to its chain; `never` for a call that sent nothing.
    package internal(set) var began = Moment.never
    package private(set) var ended = Moment.never
    package internal(set) var outcome = Outcome.none
    /// How many attempts began.
    package internal(set) var attempts: UInt16 = 0
    /// The attempt whose response decided the outcome, as its place in the record's attempts.
    package internal(set) var decidingAttempt: UInt16?

    package init() {}

    /// It began and has not ended.
    package var isInFlight: Bool { began.hasHappened && !ended.hasHappened }

    /// False if its only attempt has its response.
    var mayHaveOpenAttempts: Bool { attempts != 1 || decidingAttempt == nil }

    mutating func end(_ outcome: Outcome, at now: Moment) {
        self.outcome = outcome
        ended = now
    }
}
