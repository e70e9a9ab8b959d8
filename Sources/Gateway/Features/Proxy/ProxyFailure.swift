import Basics
import HTTP
import HTTPClient
import JSONText
import Promises
import Reactor

/// Turns every failure of a proxied request before the head of its response into a problem.
struct ProxyFailure {
    private let exposesDetails: Bool
    private let loop: any Loop

    init(of endpoint: EndpointPlan, loop: any Loop) {
        exposesDetails = endpoint.exposesDetails
        self.loop = loop
    }

    /// The response to an error. A cancellation is rethrown: the client no longer waits.
    func response(to error: any Error, _ context: RequestContext) throws -> Response {
        switch error {
        case is RequestTooSlow: return Problem(.requestTimeout, instance: context.id).response()
        case is BodyTooLarge: return Problem(.contentTooLarge, instance: context.id).response()
        case let error as WireError: return Problem(error.status, instance: context.id).response()
        case let cancelled as Cancelled where !(cancelled.cause is CallFailure): throw error
        default: return problem(CallFailure(error), context)
        }
    }

    private func problem(_ failure: CallFailure, _ context: RequestContext) -> Response {
        let status = failure.kind.facts.group.status
        var fields = Fields()
        if status == .serviceUnavailable {
            fields.append(.retryAfter, FieldValue(UInt64(max(1, failure.retryAfter ?? 1))))
        }
        return Problem(status, instance: context.id).with("failures", json: json(failure))
            .response(fields)
    }

    /// `[{"kind":"connection_refused"}]`
    private func json(_ failure: CallFailure) -> Bytes {
        var text: [UInt8] = []
        text.append(literal: #"[{"kind":"#)
        text.append(jsonString: failure.kind.facts.name)
        if let limit = failure.limit {
            text.append(literal: #","limit_ms":"#)
            text.append(decimal: UInt64(max(0, limit.inNanoseconds / 1_000_000)))
        }
        if exposesDetails, let detail = failure.detail {
            text.append(literal: #","detail":"#)
            text.append(jsonString: detail)
        }
        text.append(literal: "}]")
        return Bytes(text)
    }
}
