import Basics
import GatewayConfig
import HTTP
import JSONText
import Promises

/// The answer of a request that failed: a problem body with the status of the table.
struct FailedAnswer {
    let plan: EndpointPlan

    /// The answer for whatever ended the request. A cancellation is no failure: nobody waits for an
    /// answer then.
    func answer(_ error: any Error, _ run: FanOutState) throws -> Response {
        if error is Cancelled { throw error }
        guard let failed = error as? FailedCall else { return all(run) }
        return required(failed.failure, of: plan.calls[failed.call], run)
    }

    /// Of a required call: its failure, the first in time, decides; listed are the required calls
    /// that have failed by now.
    private func required(
        _ failure: CallFailure, of call: CallPlan, _ run: FanOutState
    ) -> Response {
        let status = OutcomeStatus.required(failure, of: call)
        if let answer = failure.answer, call.relays(failure) { return relayed(answer) }
        let listed = run.reported(of: plan).filter {
            $0.call.isRequired && $0.failure.kind != .cancelled
        }
        return problem(status, listed, run)
    }

    /// Of all calls, where one was enough: every call is listed.
    private func all(_ run: FanOutState) -> Response {
        let failures = run.reported(of: plan)
        return problem(OutcomeStatus.allFailed(failures.map(\.failure)), failures, run)
    }

    private func problem(
        _ status: Status, _ failures: [ReportedFailure], _ run: FanOutState
    ) -> Response {
        var fields: Fields = [.gatewayComplete: "false"]
        if status == .serviceUnavailable {
            let wait = failures.compactMap(\.failure.retryAfter).min() ?? 1
            fields.append(.retryAfter, FieldValue(UInt64(max(1, wait))))
        }
        var problem = Problem(status, instance: run.exchange.id)
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
        return problem.response(fields)
    }

    /// `relay_body`: the backend's answer as it came.
    private func relayed(_ answer: RelayableResponse) -> Response {
        var fields: Fields = [.gatewayComplete: "false", .cacheControl: "no-store"]
        if let type = answer.contentType { fields.append(.contentType, type) }
        return Response(status: answer.status, fields: fields, body: answer.content)
    }
}
