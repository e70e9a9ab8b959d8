import HTTP
import Promises
import Reactor

/// The filters that refuse requests by their client's address, by the host that they name or by
/// their `User-Agent`, and the response that they give.
enum RefusingFilters {
    /// `clients: { allow, deny }`: 403.
    ///
    /// - Parameter refusal: responds to a client that is not accepted
    static func byAddress(
        _ rule: AddressRule, _ proxies: TrustedProxies, refusal: Service<Request, Response>
    ) -> Filter<Request, Response> {
        Filter { next in
            Service { request, context in
                rule.accepts(context.clientAddress(of: request.head, proxies).host)
                    ? next(request, context) : refusal(request, context)
            }
        }
    }

    /// `hosts`: 421.
    static func byHost(
        _ hosts: AllowedHosts, refusal: Service<Request, Response>
    ) -> Filter<Request, Response> {
        Filter { next in
            Service { request, context in
                hosts.accepts(request.head) ? next(request, context) : refusal(request, context)
            }
        }
    }

    /// `user_agents`: 403.
    static func byUserAgent(
        _ rule: UserAgentRule, refusal: Service<Request, Response>
    ) -> Filter<Request, Response> {
        Filter { next in
            Service { request, context in
                rule.accepts(request.head) ? next(request, context) : refusal(request, context)
            }
        }
    }

    /// A problem with this reason, before the endpoint is known.
    ///
    /// - Parameter headers: those of responses without an endpoint
    static func refuse(
        _ reason: RefusalReason, _ headers: ResponseHeaders?
    ) -> Service<Request, Response> {
        Service { request, context in
            context.refusal = reason
            if let headers { context.responseFields = headers.fields(for: request.head) }
            return context.local.value(Problem(reason, instance: context.id).response())
        }
    }

    /// A problem with this reason, as a response of an endpoint.
    ///
    /// - Parameter fields: more header lines of the response
    static func refuseAtEndpoint(
        _ reason: RefusalReason, _ fields: Fields = Fields(), loop: any Loop
    ) -> Service<Request, Response> {
        Service { _, context in
            context.refusal = reason
            context.record.responseMade(at: loop.now)
            return context.local.value(Problem(reason, instance: context.id).response(fields))
        }
    }
}
