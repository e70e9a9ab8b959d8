import HTTP
import HTTPClient
import Promises
import Reactor

/// The filter chains that a request passes, as lists; each entry states the reason for its position: the
/// entry, an aggregate (`endpoint`) or a proxy (`proxy`), both behind `admission`, and a call (`call`,
/// `proxiedCall`). Built once per plan and worker.
struct Chain {
    let loop: any Loop
    let backends: [Backend]
    let entry: EntryPlan
    /// In the plan's order.
    let authenticators: [Authenticator]
    /// The proxies whose forwarding headers are trusted.
    let proxies: TrustedProxies
    /// The buckets of the process.
    let limits: LimitTable
    /// Decides about the limits that replicas share; nil without a store.
    let store: LimitStore?
    /// What each rate limit counts, by name.
    let limitCounts: [String: LimitCounts]
    /// The entry of this process in `Via`.
    let via: ViaEntry
    /// Records the targets of calls for `explain`; nil while serving.
    var targets: SentTargets?

    /// Every request before its endpoint is known, also one that no route matches. The headers that
    /// all responses have are no filter: the server writes them (`Exchange.responseFields`), so that
    /// its own rejections have them, too.
    ///
    /// - Parameter preflight: nil without CORS rules
    func entryFilters(_ preflight: Preflight?) -> [Filter<Request, Response>] {
        let filters: [Filter<Request, Response>?] = [
            // First: a denied client learns nothing about hosts and routes.
            entry.clients.map {
                $0.filter(proxies, refusal: RefusingServices.refuse(.address, entry.headers))
            },
            // Above the preflights and routes, which exist only for the served hosts.
            entry.hosts.map {
                $0.filter(refusal: RefusingServices.refuse(.host, entry.headers))
            },
            // Like the hosts: a denied client learns nothing about the routes.
            entry.userAgents.map {
                $0.filter(refusal: RefusingServices.refuse(.userAgent, entry.headers))
            },
            // Above the routes, and so above everything that an endpoint requires of a request: a
            // preflight has no credentials and no body.
            preflight?.filter,
        ]
        return filters.compactMap { $0 }
    }

    /// A request to an endpoint, from its head to its response.
    func endpoint(_ plan: EndpointPlan, _ state: EndpointState) -> Service<Request, Response> {
        if let proxy = plan.proxy { return self.proxy(proxy, of: plan, state) }
        let padding = plan.padding.map { Padding.filter($0, loop: loop) }
        let refusal = [padding].compactMap { $0 }.around(InFlightLimit.refuse(loop: loop))
        let limits = limits(of: plan)
        let body = BodyReading.filter(upTo: plan.bodyMax, loop: loop)
        // With padding, the body is read before the credential is checked.
        let (earlyBody, lateBody) = padding == nil ? (nil, body) : (body, nil)
        let filters: [Filter<Request, Response>?] = [
            // Above the padding and the deadline: both count from the request's last byte. Above
            // the limit: a client that sends its body slowly must not hold a permit.
            lateBody,
            // Above the padding: a response that is held back keeps its permit. The 503 of this
            // filter is padded too, but takes no permit.
            plan.inFlightMax.map {
                InFlightLimit.filter(max: $0, state, refusal: refusal)
            },
            // Above everything else that can respond, so that successes and failures take the same
            // time.
            padding,
            // Below the padding, which decides when a response leaves; above every call, because
            // all of them have the same deadline.
            Deadline.filter(plan.deadline),
        ]
        // Limits by a parameter or the body are the last check before the calls.
        let endpoint = Endpoint(
            plan, calls(of: plan), loop: loop, checkLimits: limits?.checkAfterValidation())
        return (admission(plan, limits, padding, earlyBody) + filters).compactMap { $0 }
            .around(Service { endpoint.handleRequest($0, $1) })
    }

    /// A request that is passed through, from its head to the last byte of its response.
    private func proxy(
        _ proxy: ProxyPlan, of plan: EndpointPlan, _ state: EndpointState
    ) -> Service<Request, Response> {
        let limits = limits(of: plan)
        let filters: [Filter<Request, Response>?] = [
            // The exchange holds the permit until its last byte.
            plan.inFlightMax.map {
                InFlightLimit.filter(max: $0, state, refusal: InFlightLimit.refuse(loop: loop))
            }
        ]
        let service = Proxy(
            proxy, of: plan, backends[proxy.backend], proxiedCall(proxy), via: via,
            checkLimits: limits?.checkAfterValidation(), loop: loop)
        return (admission(plan, limits, nil, nil) + filters).compactMap { $0 }
            .around(Service { service.proxyRequest($0, $1) })
    }

    /// What decides about a request by its head, above everything that reads its body.
    ///
    /// - Parameter body: reads the body before the credential is checked; nil without padding
    private func admission(
        _ plan: EndpointPlan, _ limits: EndpointLimits?, _ padding: Filter<Request, Response>?,
        _ body: Filter<Request, Response>?
    ) -> [Filter<Request, Response>?] {
        [
            // Above the body, which is not read for a client that is refused. Since it is above the
            // padding, its 403 is padded separately. Absent for `explain`, whose
            // requests have no client address.
            entry.checksEndpointClients
                ? plan.clients.map { rule in
                    let refusal = RefusingServices.refuseAtEndpoint(.address, loop: loop)
                    return rule.filter(
                        proxies, refusal: [padding].compactMap { $0 }.around(refusal))
                } : nil,
            // Above the authentication, which costs more than a check by address.
            limits?.filter(at: .head, padding: padding),
            // With padding, above the authentication: `100 Continue`, the window of HTTP/2 and the time of
            // a refusal would show at once, and before the last byte, whether a credential is accepted.
            body,
            // Above the authentication, whose refusals must not be stored either.
            plan.auth.map { _ in NoStore.filter },
            // Above the body, which is read only from callers that are accepted unless responses are
            // padded, and so above the padding: a refusal is padded separately.
            plan.auth.map { auth in
                let filter = EndpointAuth(
                    auth, of: plan, authenticators, failures: failureLimit(plan),
                    padding: padding, loop: loop)
                return entry.assumedCaller.map { filter.filter(assuming: $0.caller(of: auth)) }
                    ?? filter.filter
            },
            // As soon as the caller is known; above the body, which is not read for a refused request.
            limits?.filter(at: .caller, padding: padding),
            // Above the body, which is not read if its type is refused; its 415 is padded separately.
            plan.contentTypes.map { types in
                let refusal = RefusingServices.refuseAtEndpoint(
                    .contentType, types.acceptFields, loop: loop)
                return types.filter(refusal: [padding].compactMap { $0 }.around(refusal))
            },
        ]
    }

    private func limits(of plan: EndpointPlan) -> EndpointLimits? {
        EndpointLimits(
            plan, limits, { limitCounts[$0.name] ?? LimitCounts() }, store: store,
            proxies: proxies, loop: loop)
    }

    /// One for each endpoint, with the same buckets.
    private func failureLimit(_ plan: EndpointPlan) -> AuthFailureLimit? {
        entry.authFailures.map {
            AuthFailureLimit($0, limits, plan.addressMask, proxies, loop: loop)
        }
    }

    /// One call of an endpoint, from its request to its backend's response.
    ///
    /// - Parameter timeout: nil if the pool limits the time
    func call(
        _ plan: CallPlan, _ timeout: CallTimeout?, _ templates: [RequestTemplate]
    ) -> CallChain {
        let backend = backends[plan.backend]
        let filters: [CallFilter?] = [
            // Above hedge, retry and queue: one time limit covers all of them.
            timeout?.filter,
            // Above retry: each of the two requests has attempts of its own.
            plan.hedgeAfter.map {
                Hedge(after: $0, accepting: plan.accept, loop: loop).filter
            },
            // Above the breaker, which counts each attempt.
            plan.retry.map { Retry($0, budget: backend.retryBudget, loop: loop).filter },
            // Above the concurrency limit: a call that the breaker refuses does not enter its
            // queue.
            backend.breaker?.filter,
            // Below retry: a call holds no permit during a backoff.
            backend.concurrencyLimit?.filter(isHedged: plan.hedgeAfter != nil),
            // Next to the backend, so that it records every request that is sent.
            targets?.filter(plan),
        ]
        return CallChain(filters.compactMap { $0 }, to: backend, templates)
    }

    /// The one call of a request that is passed through.
    private func proxiedCall(_ proxy: ProxyPlan) -> CallChain {
        let backend = backends[proxy.backend]
        let filters: [CallFilter?] = [
            // Above the breaker, which counts each attempt.
            proxy.retry.map { Retry($0, budget: backend.retryBudget, loop: loop).filter },
            // The transfer reports the end of a response's body.
            backend.breaker?.filter,
            // The permit is held until the last byte of the response.
            backend.concurrencyLimit?.proxyFilter,
        ]
        return CallChain(
            filters.compactMap { $0 }, to: backend,
            backend.templates(backend.plan.fields, responseBytesMax: 0))
    }

    /// The names that the records of an endpoint's requests refer to.
    ///
    /// - Parameter slots: the embedder's numbers of its calls and hosts
    func recorded(_ plan: EndpointPlan, slots: RecordedEndpoint.Slots) -> RecordedEndpoint {
        RecordedEndpoint(
            name: plan.name, path: plan.route.path, isPadded: plan.padding != nil,
            calls: plan.proxy.map { [$0.recorded(at: backends[$0.backend], of: plan)] }
                ?? plan.calls.map { call in
                    let backend = backends[call.backend]
                    return RecordedEndpoint.Call(
                        name: call.name, backend: backend.plan.name, method: call.method,
                        path: call.target.pathTemplate, hosts: backend.hosts.fields,
                        servers: backend.plan.hosts.map(\.server), needs: call.needs)
                },
            slots: slots)
    }

    private func calls(of plan: EndpointPlan) -> [EndpointCall] {
        plan.calls.map { call in
            let backend = backends[call.backend]
            let timeout = CallTimeout(call.timeout, deadline: plan.deadline, loop: loop)
            let isOneRequest =
                call.hedgeAfter == nil && call.retry == nil && backend.sendsAtOnce
            // The requests of a list share one limit, which `ListRun` measures.
            let isTimedByChain = !isOneRequest && call.list == nil
            let chain = self.call(
                call, isTimedByChain ? timeout : nil,
                backend.templates(
                    call.constantFields(of: backend.plan.fields, via),
                    responseBytesMax: call.responseBytesMax,
                    statusesWithoutFields: call.statusesWithoutFields))
            return EndpointCall(
                plan: call,
                kind: call.kind(
                    in: plan, chain.template, backendFields: backend.plan.fields),
                chain: chain, timeout: isTimedByChain ? nil : timeout,
                isTimedByPool: isOneRequest)
        }
    }
}
