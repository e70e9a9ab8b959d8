import Basics
import HTTP
import Promises
import Reactor

// Where limits stand in the chain of an endpoint, and the responses of those that refuse.
extension EndpointLimits {
    /// Charges the limits of a position in the chain; nil if there are none.
    ///
    /// - Parameter padding: applied to the rejections of a filter above the endpoint's padding
    func filter(
        at position: LimitUsePlan.Position, padding: Filter<Request, Response>?
    ) -> Filter<Request, Response>? {
        let position = checks(at: position)
        guard !position.isEmpty else { return nil }
        return Filter { next in
            Service { [self] request, context in
                let values =
                    position.usesValues
                    ? CallValues(ofHead: request.head, Params(), context, proxies) : nil
                let reject = { [self] (refusal: LimitRefusal) in
                    let rejection = Service<Request, Response> { [self] _, context in
                        context.local.value(self.reject(refusal, context))
                    }
                    return [padding].compactMap { $0 }.around(rejection)(request, context)
                }
                switch charge(position, request.head, context, values) {
                case .granted: return next(request, context)
                case .refused(let refusal): return reject(refusal)
                case .later(let decision):
                    return decision.then { [self] decision in
                        conclude(decision, context).map(reject) ?? next(request, context)
                    }
                }
            }
        }
    }

    /// Charges the limits that need validated parameters or the body, for the endpoint itself; nil
    /// if there are none.
    func checkAfterValidation() -> ((CallValues, RequestContext) -> LimitCheckResult)? {
        let position = checks(at: .validated)
        guard !position.isEmpty else { return nil }
        return { [self] values, context in
            switch charge(position, values.head, context, values) {
            case .granted: .granted
            case .refused(let refusal): .refused(reject(refusal, context))
            case .later(let decision):
                .later(
                    decision.map { [self] decision in
                        conclude(decision, context).map { reject($0, context) }
                    })
            }
        }
    }

    private func reject(_ refusal: LimitRefusal, _ context: RequestContext) -> Response {
        context.refusal = refusal.reason
        context.record.responseMade(at: loop.now)
        return refusal.response(to: context)
    }
}
