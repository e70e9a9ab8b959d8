import Basics

/// Status, body and head of every answer are those that CONFIG says, by the model.
struct OutcomeCheck {
    let world: World

    func run() {
        for client in world.clients {
            for request in client.sent {
                guard let answer = request.answer else { continue }
                check(request, answer)
            }
        }
    }

    /// A request that a reload met may have been answered by either configuration.
    private func check(_ request: SentRequest, _ answer: Message) {
        var complaints: [Complaint] = []
        for config in world.configs(for: request) {
            complaints = judge(request, answer, config)
            if complaints.isEmpty { return }
        }
        for complaint in complaints {
            world.violation(complaint.checker, request.mark, "\(complaint.text)\n\(told(answer))")
        }
    }

    private func told(_ answer: Message) -> String {
        "  " + answer.startLine + " " + String(decoding: answer.body.prefix(600), as: UTF8.self)
    }

    private func judge(
        _ request: SentRequest, _ answer: Message, _ config: DrawnConfig
    ) -> [Complaint] {
        let status = answer.status
        if isTooSlow(request, config), status == 408 { return [] }
        if status == 503, answer["Gateway-Complete"] == nil {
            let isLimited =
                config.limits.limitsConnections || config.limits.requestsInFlight != nil
                || world.mayLackRoom
                || RequestModel(request: request.request, config: config).endpoint?.maxInFlight
                    != nil
            return isLimited && answer["Retry-After"] != nil
                ? [] : [Complaint(.status, "503 without a limit, or without Retry-After")]
        }
        let model = RequestModel(request: request.request, config: config)
        switch model.verdict {
        case .refused(let statuses):
            guard statuses.contains(status) else {
                return [Complaint(.status, "\(status) instead of \(statuses)")]
            }
            if status == 405, answer["Allow"] == nil {
                return [Complaint(.contents, "405 without Allow")]
            }
            let isProblem = answer["Content-Type"] == "application/problem+json"
            return isProblem ? [] : [Complaint(.contents, "a refusal that is no problem body")]
        case .goes(let endpoint):
            return EndpointJudge(world, request, answer, endpoint, config).complaints
        }
    }

    /// Whether the client took longer than it may; a body has five seconds before its rate counts.
    private func isTooSlow(_ request: SentRequest, _ config: DrawnConfig) -> Bool {
        guard let answered = request.answered else { return false }
        let patience = min(
            config.limits.headerTimeout ?? 10_000, config.limits.bodyTimeout ?? 5_000)
        return answered - request.began >= .milliseconds(patience)
    }
}

/// Something that an answer should not be.
struct Complaint {
    let checker: Checker
    let text: String

    init(_ checker: Checker, _ text: String) {
        self.checker = checker
        self.text = text
    }
}
