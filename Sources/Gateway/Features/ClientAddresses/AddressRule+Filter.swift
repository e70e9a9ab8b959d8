import HTTP
import Promises

extension AddressRule {
    /// `clients: { allow, deny }`: 403.
    ///
    /// - Parameter refusal: responds to a client that is not accepted
    func filter(
        _ proxies: TrustedProxies, refusal: Service<Request, Response>
    ) -> Filter<Request, Response> {
        Filter { next in
            Service { [self] request, context in
                accepts(context.clientAddress(of: request.head, proxies).host)
                    ? next(request, context) : refusal(request, context)
            }
        }
    }
}
