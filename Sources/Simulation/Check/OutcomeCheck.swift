import Basics
import Rehearsal

/// Status, body and head of every answer are those that CONFIG says, by the model.
struct OutcomeCheck {
    let record: RunRecord
    let violations: ViolationLog

    func run() {
        for client in record.clients {
            for request in client.sent {
                guard let answer = request.answer else { continue }
                check(request, answer)
            }
        }
    }

    /// A request that a reload met may have been answered by either configuration.
    private func check(_ request: RequestRecord, _ answer: PeerMessage) {
        var found: [Violation] = []
        for config in record.configs(for: request) {
            found = violations(of: request, answer, config)
            if found.isEmpty { return }
        }
        for violation in found {
            violations.add(violation.checker, request.mark, "\(violation.text)\n\(told(answer))")
        }
    }

    private func told(_ answer: PeerMessage) -> String {
        "  " + answer.startLine + " " + String(decoding: answer.body.prefix(600), as: UTF8.self)
    }

    private func violations(
        of request: RequestRecord, _ answer: PeerMessage, _ config: DrawnConfig
    ) -> [Violation] {
        let status = answer.status
        if isTooSlow(request, config), status == 408 { return [] }
        if status == 503, answer["Gateway-Complete"] == nil {
            let isLimited =
                config.limits.limitsConnections || config.limits.requestsInFlight != nil
                || record.mayLackRoom
                || RequestModel(request: request.request, config: config).endpoint?.maxInFlight
                    != nil
            return isLimited && answer["Retry-After"] != nil
                ? [] : [Violation(.status, "503 without a limit, or without Retry-After")]
        }
        let model = RequestModel(request: request.request, config: config)
        switch model.expectation {
        case .refused(let statuses):
            guard statuses.contains(status) else {
                return [Violation(.status, "\(status) instead of \(statuses)")]
            }
            if status == 405, answer["Allow"] == nil {
                return [Violation(.contents, "405 without Allow")]
            }
            let isProblem = answer["Content-Type"] == "application/problem+json"
            return isProblem ? [] : [Violation(.contents, "the body of a refusal is not a problem")]
        case .goes(let endpoint):
            return EndpointCheck(record, request, answer, endpoint, config).violations
        }
    }

    /// Whether the client took longer than it may; a body has five seconds before its rate counts.
    private func isTooSlow(_ request: RequestRecord, _ config: DrawnConfig) -> Bool {
        guard let answered = request.answered else { return false }
        let patience = min(
            config.limits.headerTimeout ?? 10_000, config.limits.bodyTimeout ?? 5_000)
        return answered - request.began >= .milliseconds(patience)
    }
}
