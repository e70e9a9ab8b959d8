package import HTTP
import HTTPClient
package import Reactor

/// Decides about the credential of one request without sending anything, for `explain`.
///
/// On the loop that it is created for.
package struct OfflineAuth {
    private let auth: EndpointAuth
    private let loop: any Loop

    /// What is known about a request to a protected endpoint.
    package enum Decision {
        case accepted(Caller)
        /// - Parameter detail: the condition of `require` that does not hold
        case refused(RefusalReason, Status, RefusalCause?, detail: String?)
        /// Only a real request decides it, because of this.
        case undecided(String)
    }

    /// Nil if the endpoint is public.
    package init?(_ plan: Plan, _ endpoint: EndpointPlan, on loop: any Loop) {
        guard let auth = endpoint.auth else { return nil }
        let surroundings = AuthSurroundings(
            backends: [], pools: ConnectionPools(loop: loop), loop: loop, log: nil,
            keyFetching: .never)
        self.auth = EndpointAuth(
            auth, of: endpoint,
            plan.authenticators.map { Authenticator($0, surroundings, replacing: nil) },
            failures: nil, padding: nil, loop: loop)
        self.loop = loop
    }

    /// The decision, and the context that has the caller.
    package func decide(_ head: RequestHead) -> (decision: Decision, context: RequestContext) {
        let context = RequestContext(
            ExchangeStart(
                id: RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
                local: loop.local, began: loop.now))
        return (auth.decideWithoutWaiting(head, context), context)
    }
}
