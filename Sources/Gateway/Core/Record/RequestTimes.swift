/// How the duration of a request divides: at each moment exactly one of these holds, so they add up to
/// the duration.
package struct RequestTimes: Sendable, Equatable {
    /// In microseconds, by `Phase`; the last elements are not used.
    private var values = SIMD8<UInt32>()

    /// What a request waits for.
    package enum Phase: UInt8, Sendable, CaseIterable {
        /// The gateway itself.
        case own
        /// The rest of the request's body, from the client.
        case receiving
        /// The decision of the store about the rate limits.
        case store
        /// The keys of an issuer.
        case keys
        /// At least one call.
        case calling
        /// `min_duration` or `round_up_to`.
        case held
    }

    package init() {}

    package subscript(phase: Phase) -> Duration { .microseconds(microseconds(phase)) }

    /// The same in microseconds, without the arithmetic of `Duration`.
    package func microseconds(_ phase: Phase) -> UInt32 { values[Int(phase.rawValue)] }

    mutating func add(_ microseconds: UInt32, to phase: Phase) {
        // Moments saturate, so no sum of their distances overflows.
        values[Int(phase.rawValue)] &+= microseconds
    }
}
