/// How a request ended, in one word.
package enum RequestOutcome: UInt8, Sendable, CaseIterable {
    /// Answered, with everything.
    case ok
    /// Answered, without the parts of calls that failed.
    case partial
    /// Answered with a status from 400 to 499.
    case rejected
    /// Answered with a status from 500 on.
    case failed
    /// The response broke off behind its head.
    case truncated
    /// The client was gone before the end of the response.
    case clientGone
    /// Ended by the end of the time for draining.
    case cutOff

    /// As it stands in logs.
    package var name: StaticString {
        switch self {
        case .ok: "ok"
        case .partial: "partial"
        case .rejected: "rejected"
        case .failed: "failed"
        case .truncated: "truncated"
        case .clientGone: "client_gone"
        case .cutOff: "cut_off"
        }
    }
}
