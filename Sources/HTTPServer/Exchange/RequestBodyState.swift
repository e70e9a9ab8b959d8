/// The state of a request's body, from its head to its last byte, in HTTP/1.1 and in HTTP/2. Owned by the state
/// machine of the connection or the stream.
///
///     arriving, awaitingContinue -> delivering <-> paused
///                                   delivering -> complete, broken
///                                   delivering, paused -> cancelled
///     arriving, awaitingContinue -> complete (stored whole); any -> broken (rejected)
enum RequestBodyState: Equatable {
    /// There is none, or its last byte was passed on.
    case complete
    /// The service does not read it yet.
    case arriving
    /// As `arriving`; the client waits for `100 Continue` before it sends the body.
    case awaitingContinue
    /// The service reads it.
    case delivering
    /// The service has paused it.
    case paused
    /// The service does not need its rest.
    case cancelled
    /// Its rest cannot be read, or a rejection is the response; further input is dropped.
    case broken

    /// What the reader of the body does; false if that changes nothing.
    mutating func handle(_ demand: BodyDemand) -> Bool {
        switch (self, demand) {
        case (.arriving, .started), (.awaitingContinue, .started), (.paused, .resumed):
            self = .delivering
        case (.delivering, .paused): self = .paused
        case (.delivering, .cancelled), (.paused, .cancelled): self = .cancelled
        case (_, .started), (_, .paused), (_, .resumed), (_, .cancelled): return false
        }
        return true
    }

    /// The last byte is passed on; false if the service does not read the body.
    mutating func end() -> Bool { leaveDelivery(to: .complete) }

    /// The rest cannot be read; false if the service does not read the body.
    mutating func fail() -> Bool { leaveDelivery(to: .broken) }

    private mutating func leaveDelivery(to next: Self) -> Bool {
        guard self == .delivering else { return false }
        self = next
        return true
    }
}
