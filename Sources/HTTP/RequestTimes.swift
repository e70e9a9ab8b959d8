/// How the duration of a request divides: at each moment exactly one of these holds, so they add up to
/// the duration.
package struct RequestTimes: Sendable, Equatable {
    /// In microseconds, by `Phase`.
    private var own: UInt32 = 0
    private var receiving: UInt32 = 0
    private var calling: UInt32 = 0
    private var held: UInt32 = 0

    /// What a request waits for.
    package enum Phase: UInt8, Sendable {
        /// The gateway itself.
        case own
        /// The rest of the request's body, from the client.
        case receiving
        /// At least one call.
        case calling
        /// `min_duration` or `round_up_to`.
        case held
    }

    package init() {}

    package subscript(phase: Phase) -> Duration {
        switch phase {
        case .own: .microseconds(own)
        case .receiving: .microseconds(receiving)
        case .calling: .microseconds(calling)
        case .held: .microseconds(held)
        }
    }

    /// The same in microseconds, without the arithmetic of `Duration`.
    package func microseconds(_ phase: Phase) -> UInt32 {
        switch phase {
        case .own: own
        case .receiving: receiving
        case .calling: calling
        case .held: held
        }
    }

    mutating func add(_ microseconds: UInt32, to phase: Phase) {
        // Moments saturate, so no sum of their distances overflows.
        switch phase {
        case .own: own &+= microseconds
        case .receiving: receiving &+= microseconds
        case .calling: calling &+= microseconds
        case .held: held &+= microseconds
        }
    }
}
