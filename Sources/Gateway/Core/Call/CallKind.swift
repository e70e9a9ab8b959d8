import HTTP
import HTTPClient
import Reactor

/// What a call sends to its backend, and which part it makes of the response: the protocol between the
/// gateway and a backend. One object for each call of a plan; it has no state of requests.
///
/// Everything else is the same for each kind: when a call starts, its filters, its backend, the place
/// of its part in the response, reports.
protocol CallKind: AnyObject {
    /// The request of one call, complete with its body.
    ///
    /// Throws `skipped` where a value is missing, so that nothing is sent.
    func request(with values: CallValues) throws(CallFailure) -> ClientRequest

    /// The part that a complete response contains, whatever its status.
    ///
    /// Throws the failure of the call. The filters of the call, such as the circuit breaker and `retry`,
    /// have passed the response on before, so that they do not count it.
    ///
    /// - Parameters:
    ///   - loop: of the call, for the time
    ///   - droppedKeys: receives keys that the change of case dropped, since others became equal
    func part(
        of response: ClientResponse, on loop: any Loop, reporting droppedKeys: inout [String]
    ) throws -> Part
}

extension CallPlan {
    /// The kind of the call: decided once, when its chain is built.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint of the call
    ///   - template: what its requests share, with `constantFields`
    ///   - backendFields: the `headers` of its backend
    func kind(
        in endpoint: EndpointPlan, _ template: RequestTemplate, backendFields: Fields
    ) -> any CallKind {
        JSONCall(
            RequestBuilder(
                self, backendFields: backendFields, template: template,
                names: ValueNames(of: endpoint)),
            Decoder(plan: self))
    }
}
