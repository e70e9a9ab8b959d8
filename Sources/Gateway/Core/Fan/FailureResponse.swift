import Basics
import HTTP
import HTTPClient
import JSONText
import Promises

/// The response to a request that failed: a problem body with the status that
/// `OutcomeStatus` gives.
struct FailureResponse {
    let plan: EndpointPlan

    /// The response to the error that ended the request. A cancellation is rethrown: the client no
    /// longer waits for a response.
    func response(to error: any Error, _ state: FanOutState) throws -> Response {
        if error is Cancelled { throw error }
        guard let failed = error as? FailedCall else { return allFailed(state) }
        return requiredFailed(failed.failure, plan.calls[failed.call], state)
    }

    /// A required call failed: the first such failure decides the status, and the response lists
    /// the required calls that have failed so far.
    private func requiredFailed(
        _ failure: CallFailure, _ call: CallPlan, _ state: FanOutState
    ) -> Response {
        let status = OutcomeStatus.required(failure, of: call)
        let backend = failure.response
        if let backend, let content = backend.content { return relayed(backend, content, call) }
        let listed = state.reportedFailures(of: plan).filter {
            $0.call?.isRequired == true && $0.failure.kind != .cancelled
        }
        let reason: RefusalReason? = failure.isMissingClaim ? .claims : nil
        return problem(status, reason, listed, state) { fields in
            if let backend { fields.relay(call.relayHeaders, of: backend.fields) }
        }
    }

    /// All calls failed where one was enough: the response lists every call.
    private func allFailed(_ state: FanOutState) -> Response {
        let failures = state.reportedFailures(of: plan)
        let status = OutcomeStatus.allFailed(
            failures.map(\.failure).filter { $0.kind != .truncated })
        return problem(status, status == .forbidden ? .claims : nil, failures, state)
    }

    /// - Parameter reason: why the request is refused; nil if it is not
    private func problem(
        _ status: Status, _ reason: RefusalReason?, _ failures: [ReportedFailure],
        _ state: FanOutState,
        adding addFields: (inout Fields) -> Void = { _ in }
    ) -> Response {
        var fields: Fields = [.gatewayComplete: "false"]
        if status == .serviceUnavailable {
            let wait = failures.compactMap(\.failure.retryAfter).min() ?? 1
            fields.append(.retryAfter, FieldValue(UInt64(max(1, wait))))
        }
        var problem = Problem(status, instance: state.context.id)
        if let reason {
            problem = Problem(reason, status: status, instance: state.context.id)
            state.context.refusal = reason
        }
        var text: [UInt8] = []
        switch plan.report {
        case .body:
            text.append(failures: failures, exposingDetails: plan.exposesDetails)
            problem = problem.with("failures", json: Bytes(text))
        case .header where !failures.isEmpty:
            text.append(failuresField: failures)
            if let value = FieldValue(Bytes(text)) { fields.append(.gatewayFailures, value) }
        case .header, .off: break
        }
        addFields(&fields)
        return problem.response(fields)
    }

    /// `relay_body`: the backend's response, unchanged.
    private func relayed(
        _ response: RelayableResponse, _ content: Bytes, _ call: CallPlan
    ) -> Response {
        var fields: Fields = [.gatewayComplete: "false", .cacheControl: "no-store"]
        fields.append(response.contentFields)
        fields.relay(call.relayHeaders, of: response.fields)
        return Response(status: response.status, fields: fields, body: content)
    }
}
