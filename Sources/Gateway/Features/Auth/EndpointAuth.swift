import Basics
import HTTP
import Promises
import Reactor

/// `auth:` of an endpoint: accepts the requests of authenticated callers, and responds to all others
/// with 400, 401, 403, 429 or 503.
final class EndpointAuth {
    private let plan: EndpointAuthPlan
    private let requirements: HeadConditions
    private let authenticators: [Authenticator]
    /// Those that a caller must have.
    private let scopes: [Bytes]
    private let challenges: AuthChallenges
    /// Nil without a limit.
    private let failures: AuthFailureLimit?
    /// `deadline` of the endpoint, which also bounds the wait for keys.
    private let deadline: Duration
    /// Pads a refusal, since this filter is above the padding of the endpoint.
    private let padding: Filter<Request, Response>?
    private let loop: any Loop

    /// - Parameter authenticators: all authenticators of the plan
    init(
        _ plan: EndpointAuthPlan, of endpoint: EndpointPlan, _ authenticators: [Authenticator],
        failures: AuthFailureLimit?, padding: Filter<Request, Response>?, loop: any Loop
    ) {
        self.plan = plan
        requirements = HeadConditions(plan.requirements, of: endpoint)
        self.authenticators = plan.authenticators.map { authenticators[$0] }
        scopes = plan.scopes.map { Bytes($0) }
        challenges = AuthChallenges(self.authenticators.map(\.plan), scopes: plan.scopes)
        self.failures = failures
        deadline = endpoint.deadline
        self.padding = padding
        self.loop = loop
    }

    var filter: Filter<Request, Response> {
        Filter { next in
            Service { [self] request, context in
                respond(decision(on: request.head, context), to: request, context, next)
            }
        }
    }

    /// Treats every request as one of this caller, who must have what the endpoint requires.
    func filter(assuming caller: Caller) -> Filter<Request, Response> {
        Filter { next in
            Service { [self] request, context in
                accept(caller, by: 0, request, context, next)
            }
        }
    }

    /// The decision of one of the authenticators.
    private enum Decision {
        case accepted(Caller, by: Int, after: FormerRefusals)
        case refused(AttributedRefusal, after: FormerRefusals)
        case later(LocalPromise<AuthResult>, by: Int, after: FormerRefusals)
    }

    // MARK: Decision

    private func decision(on head: RequestHead, _ context: RequestContext) -> Decision {
        if let index = ambiguousAuthenticator(head.fields) {
            let refused = AttributedRefusal(
                refusal: AuthRefusal(.malformed), authenticator: index, isAmbiguous: true)
            var refusals = FormerRefusals()
            refusals.add(refused)
            return .refused(refused, after: refusals)
        }
        return decision(on: head, context, from: 0, after: FormerRefusals())
    }

    /// What can be decided about a request whose client is not known, without keys that are fetched.
    func decideWithoutWaiting(
        _ head: RequestHead, _ context: RequestContext
    ) -> OfflineAuth.Decision {
        switch decision(on: head, context) {
        case .accepted(let caller, _, _):
            context.caller = caller
            return lack(of: caller, head, context) ?? .accepted(caller)
        case .refused(let refused, _):
            let plan = authenticators[refused.authenticator].plan
            if refused.refusal.reason == .keysUnavailable, plan.tokens?.fetchesKeys == true {
                return .undecided("the keys of \(plan.name) are fetched")
            }
            return Self.refused(
                refused.refusal.reason, cause: refused.refusal.cause,
                status: refused.isAmbiguous ? .badRequest : nil)
        case .later(_, let index, _):
            return .undecided("the keys of \(authenticators[index].plan.name) are fetched")
        }
    }

    /// What the endpoint requires and the caller does not have; nil if nothing is missing.
    private func lack(
        of caller: Caller, _ head: RequestHead, _ context: RequestContext
    ) -> OfflineAuth.Decision? {
        guard caller.has(scopes) else { return Self.refused(.scope) }
        let all = requirements.values(of: head, context)
        let values = ClientlessValues(values: all)
        if let condition = plan.requirements.first(where: { $0.result(in: values) == .fails }) {
            return Self.refused(.claims, detail: condition.failing(in: values))
        }
        let unambiguous = UnambiguousValues(values: all)
        if let condition = plan.requirements.first(where: {
            $0.result(in: values) != .unknown && $0.result(in: unambiguous) == .unknown
        }) {
            return Self.refused(.claims, detail: condition.text)
        }
        return plan.requirements.first { $0.result(in: values) == .unknown }
            .map { .undecided("it depends on the client's address whether \($0.text)") }
    }

    private static func refused(
        _ reason: RefusalReason, cause: RefusalCause? = nil, status: Status? = nil,
        detail: String? = nil
    ) -> OfflineAuth.Decision {
        .refused(reason, status ?? reason.status, cause, detail: detail)
    }

    /// Two credentials of one kind: in several lines of a header, or at the places of two
    /// authenticators. Another server may read another one of them.
    private func ambiguousAuthenticator(_ fields: Fields) -> Int? {
        for index in authenticators.indices {
            let source = authenticators[index].source
            switch source.content(of: fields) {
            case .none: continue
            case .ambiguous: return index
            case .credential:
                for other in authenticators[..<index]
                where other.source != source && other.source.scheme == source.scheme {
                    if !other.source.content(of: fields).isNone { return index }
                }
            }
        }
        return nil
    }

    /// Tries the authenticators in their order; one that accepts is enough.
    ///
    /// - Parameter former: the refusals so far
    private func decision(
        on head: RequestHead, _ context: RequestContext, from first: Int,
        after former: FormerRefusals
    ) -> Decision {
        var refusals = former
        for index in first..<authenticators.count {
            let authenticator = authenticators[index]
            guard let credential = authenticator.source.credential(of: head, context.peer) else {
                continue
            }
            let check = authenticator.check
            // In this order: an API key never needs the limit, and a token is hashed here only beyond
            // it.
            if check.guesses == .limited, let refusal = failures?.refusal(of: head, context),
                check.rememberedCaller(of: credential) == nil
            {
                refusals.add(refusal, of: index)
                continue
            }
            let end = context.waitEnd(deadline)
            switch check.result(of: credential, context, until: end) {
            case .accepted(let caller): return .accepted(caller, by: index, after: refusals)
            case .refused(let refusal):
                refusals.add(refusal, of: index, isGuess: check.guesses != .ignored)
            case .later(let promise):
                // An authenticator that has verified the token before decides without a wait.
                if let known = rememberedCaller(head, context, after: index) {
                    promise.cancel()
                    return .accepted(known.caller, by: known.index, after: refusals)
                }
                return .later(promise, by: index, after: refusals)
            }
        }
        let missing = AttributedRefusal(refusal: AuthRefusal(.missing), authenticator: 0)
        return .refused(refusals.worst ?? missing, after: refusals)
    }

    /// The caller of the first later authenticator that has verified the credential before.
    private func rememberedCaller(
        _ head: RequestHead, _ context: RequestContext, after index: Int
    ) -> (caller: Caller, index: Int)? {
        for index in (index + 1)..<max(index + 1, authenticators.count) {
            guard let credential = authenticators[index].source.credential(of: head, context.peer),
                let caller = authenticators[index].check.rememberedCaller(of: credential)
            else { continue }
            return (caller, index)
        }
        return nil
    }

    // MARK: Response

    private func respond(
        _ decision: Decision, to request: Request, _ context: RequestContext,
        _ next: Service<Request, Response>
    ) -> LocalPromise<Response> {
        switch decision {
        case .accepted(let caller, let index, let refusals):
            // A wrong credential counts also beside a valid one: a caller with a key could otherwise
            // guess passwords without limit.
            _ = countFailures(refusals, acceptedBy: index, request.head, context)
            return accept(caller, by: index, request, context, next)
        case .refused(let refused, let refusals):
            return refuse(refused, after: refusals, request, context)
        case .later(let promise, let index, let before):
            context.record.keysAwaited(at: loop.now)
            return promise.then { [self] result in
                context.record.decisionMade(at: loop.now)
                return respond(
                    self.decision(result, of: index, after: before, request, context), to: request,
                    context, next)
            }
        }
    }

    /// Continues after an authenticator that had to wait.
    private func decision(
        _ result: AuthResult, of index: Int, after former: FormerRefusals, _ request: Request,
        _ context: RequestContext
    ) -> Decision {
        switch result {
        case .accepted(let caller): return .accepted(caller, by: index, after: former)
        case .refused(let refusal):
            var refusals = former
            refusals.add(refusal, of: index)
            return decision(on: request.head, context, from: index + 1, after: refusals)
        case .later(let promise): return .later(promise, by: index, after: former)
        }
    }

    private func accept(
        _ caller: Caller, by index: Int, _ request: Request, _ context: RequestContext,
        _ next: Service<Request, Response>
    ) -> LocalPromise<Response> {
        context.caller = caller
        guard caller.has(scopes) else {
            return respond(
                to: request, context,
                with: AttributedRefusal(refusal: AuthRefusal(.scope), authenticator: index))
        }
        guard requirements.hold(for: request.head, context) else {
            return respond(
                to: request, context,
                with: AttributedRefusal(refusal: AuthRefusal(.claims), authenticator: index))
        }
        authenticators[index].counts.countAccepted()
        return next(request, context)
    }

    private func refuse(
        _ refused: AttributedRefusal, after refusals: FormerRefusals, _ request: Request,
        _ context: RequestContext
    ) -> LocalPromise<Response> {
        var refused = refused
        let limited = countFailures(refusals, acceptedBy: nil, request.head, context)
        if refused.refusal.reason.countsAsFailure, let limited {
            refused = AttributedRefusal(refusal: limited, authenticator: refused.authenticator)
        }
        return respond(to: request, context, with: refused)
    }

    /// Counts each credential that every authenticator which reads it has refused as malformed or
    /// untrusted; returns the refusal if the limit was reached before.
    private func countFailures(
        _ refusals: FormerRefusals, acceptedBy accepted: Int?, _ head: RequestHead,
        _ context: RequestContext
    ) -> AuthRefusal? {
        guard refusals.failed != 0, let failures else { return nil }
        var limited: AuthRefusal?
        for index in authenticators.indices where refusals.failed & (1 << index) != 0 {
            let isCountedElsewhere = authenticators.indices.contains { other in
                guard authenticators[other].source == authenticators[index].source else {
                    return false
                }
                return other == accepted || refusals.undecided & (1 << other) != 0
                    || other < index && refusals.failed & (1 << other) != 0
            }
            guard !isCountedElsewhere else { continue }
            limited = failures.countFailure(of: head, context) ?? limited
        }
        return limited
    }

    private func respond(
        to request: Request, _ context: RequestContext, with refused: AttributedRefusal
    ) -> LocalPromise<Response> {
        let reason = refused.refusal.reason
        authenticators[refused.authenticator].counts.count(reason)
        context.refusal = reason
        context.refusalCause = refused.refusal.cause
        let response = Service<Request, Response> { [self] _, context in
            context.record.responseMade(at: loop.now)
            return context.local.value(self.response(to: refused, context))
        }
        return (padding?.around(response) ?? response)(request, context)
    }

    private func response(to refused: AttributedRefusal, _ context: RequestContext) -> Response {
        let reason = refused.refusal.reason
        if reason == .quota {
            return Problem.quota(
                violating: Bytes("[\"\(AuthFailureLimit.name)\"]"),
                seconds: max(1, refused.refusal.retryAfter ?? 1), instance: context.id)
        }
        let problem = Problem(
            reason, status: refused.isAmbiguous ? .badRequest : nil, instance: context.id)
        var fields = challenges.fields(
            for: reason, isAmbiguous: refused.isAmbiguous, by: refused.authenticator)
        if let seconds = refused.refusal.retryAfter {
            fields.append(.retryAfter, FieldValue(UInt64(max(1, seconds))))
        }
        return problem.response(fields)
    }
}
