import HTTP
import Promises
import Reactor

/// The filters that refuse requests by their client's address or by the host that they name, and
/// the response that they give.
enum Refusals {
    /// `clients: { allow, deny }`: 403.
    ///
    /// - Parameter refusal: responds to a client that is not accepted
    static func byAddress(
        _ rule: AddressRule, _ proxies: TrustedProxies, refusal: Service<Request, Response>
    ) -> Filter<Request, Response> {
        Filter { next in
            Service { request, exchange in
                rule.accepts(exchange.clientAddress(of: request.head, proxies).address)
                    ? next(request, exchange) : refusal(request, exchange)
            }
        }
    }

    /// `hosts`: 421.
    static func byHost(
        _ hosts: AllowedHosts, refusal: Service<Request, Response>
    ) -> Filter<Request, Response> {
        Filter { next in
            Service { request, exchange in
                hosts.accepts(request.head) ? next(request, exchange) : refusal(request, exchange)
            }
        }
    }

    /// A problem with this reason, before the endpoint is known.
    ///
    /// - Parameter headers: those of responses without an endpoint
    static func refuse(
        _ reason: RefusalReason, _ headers: ResponseHeaders?
    ) -> Service<Request, Response> {
        Service { request, exchange in
            exchange.refusal = reason
            if let headers { exchange.responseFields = headers.fields(for: request.head) }
            return exchange.local.value(Problem(reason, instance: exchange.id).response())
        }
    }

    /// A problem with this reason, as a response of an endpoint.
    static func refuseAtEndpoint(
        _ reason: RefusalReason, loop: any Loop
    ) -> Service<Request, Response> {
        Service { _, exchange in
            exchange.refusal = reason
            exchange.record.responseMade(at: loop.now)
            return exchange.local.value(Problem(reason, instance: exchange.id).response())
        }
    }
}
