import HTTP

/// The lines of `explain` about the credential of a request to a protected endpoint.
struct ExplainedCredential {
    private let decision: OfflineAuth.Decision
    /// Has the caller of an accepted credential.
    let context: RequestContext

    init(_ check: OfflineAuth, _ head: RequestHead) {
        (decision, context) = check.decide(head)
    }

    /// Whether the request has a credential that is refused. Without one, `explain` shows what an
    /// accepted caller gets.
    var isRefused: Bool {
        switch decision {
        case .refused(.missing, _, _, _), .accepted, .undecided: false
        case .refused: true
        }
    }

    var lines: [String] {
        switch decision {
        case .accepted(let caller): return [caller.explained]
        case .undecided(let reason): return ["caller    not decided without --run: \(reason)"]
        case .refused(.missing, let status, _, _):
            return [
                "caller    none: without a credential \(status.code); below is what an accepted one"
                    + " gets"
            ]
        case .refused(let reason, let status, let cause, let detail):
            let more = detail.map { ": \($0) does not hold" } ?? cause.map { ": \($0.name)" } ?? ""
            return ["refused   \(status.code): \(reason.name)\(more)"]
        }
    }
}
