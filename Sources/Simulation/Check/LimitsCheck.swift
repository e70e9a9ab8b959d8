import Basics
import Rehearsal

/// What the configuration bounds stays within its bounds: calls at once, requests at once, tries.
struct LimitsCheck {
    let record: RunRecord
    let violations: ViolationLog

    func run() {
        for config in record.configs {
            for worker in record.workers.map(\.name) {
                checkBulkheads(config, worker)
                checkRequests(config, worker)
            }
        }
        for client in record.clients {
            for request in client.sent { checkTries(request) }
        }
    }

    // MARK: At once

    private struct Span {
        let from: Instant
        let to: Instant?
    }

    /// The most spans that overlap; one that ends makes room for one that begins at that moment.
    private func most(_ spans: [Span]) -> Int {
        var edges: [(time: Instant, change: Int)] = []
        for span in spans where span.to != span.from {
            edges.append((span.from, 1))
            if let to = span.to { edges.append((to, -1)) }
        }
        edges.sort { $0.time == $1.time ? $0.change < $1.change : $0.time < $1.time }
        var (count, most) = (0, 0)
        for edge in edges {
            count += edge.change
            most = max(most, count)
        }
        return most
    }

    private func checkBulkheads(_ config: DrawnConfig, _ worker: String) {
        for (index, backend) in config.backends.enumerated() {
            guard let limit = backend.maxConcurrent.map(config.share) else { continue }
            let attempts = record.attempts.filter {
                $0.backend == index && $0.worker == worker
                    && $0.call.generation == config.generation
            }
            guard !attempts.contains(where: \.isPoisoned) else { continue }
            let most = most(attempts.map { Span(from: $0.sent, to: $0.ended) })
            if most > limit {
                violations.add(
                    .limits, nil, "\(most) calls at once to \(backend.name), limited to \(limit)")
            }
        }
    }

    private func checkRequests(_ config: DrawnConfig, _ worker: String) {
        func most(_ endpoint: Int?) -> Int {
            var spans: [Span] = []
            for client in record.clients where client.worker == worker {
                for request in client.sent {
                    let attempts = record.attempts(of: request).filter {
                        $0.call.generation == config.generation
                            && $0.call.endpoint == endpoint ?? $0.call.endpoint
                    }
                    // From the first call to the answer it is surely under way.
                    guard let first = attempts.map(\.sent).min(), let end = request.answered else {
                        continue
                    }
                    spans.append(Span(from: first, to: end))
                }
            }
            return self.most(spans)
        }
        for endpoint in config.endpoints {
            guard let limit = endpoint.maxInFlight.map(config.share) else { continue }
            let found = most(endpoint.index)
            if found > limit {
                violations.add(
                    .limits, nil, "\(found) requests at once of e\(endpoint.index), not \(limit)")
            }
        }
        guard let limit = config.limits.requestsInFlight.map(config.share),
            record.configs.count == 1
        else { return }
        let found = most(nil)
        if found > limit {
            violations.add(.limits, nil, "\(found) requests at once, limited to \(limit)")
        }
    }

    // MARK: Tries

    private func checkTries(_ request: RequestRecord) {
        for config in record.configs {
            guard let endpoint = request.request.endpoint.map({ config.endpoints[$0] }) else {
                continue
            }
            for call in endpoint.calls {
                let attempts = record.attempts(of: request).filter {
                    $0.call.generation == config.generation && $0.call.call == call.index
                }
                guard attempts.count > 1 else { continue }
                if call.isIdempotent, attempts.contains(where: \.isPoisoned) { continue }
                if let fault = fault(of: call, attempts) {
                    violations.add(.limits, request.mark, "\(attempts[0].call.text): \(fault)")
                }
            }
        }
    }

    private func fault(of call: DrawnCall, _ attempts: [AttemptRecord]) -> String? {
        if !call.isIdempotent { return "a \(call.method) was sent \(attempts.count) times" }
        // One resend more for each that met the end of a kept connection.
        let resent = attempts.count(where: \.mayBeResent)
        let tries = (call.retry?.attempts ?? 1) * (call.hedgeAfter == nil ? 1 : 2) + resent
        if attempts.count > tries { return "\(attempts.count) tries, and \(tries) are allowed" }
        guard call.hedgeAfter == nil else { return nil }
        let last = attempts.count - 1
        let wrong = attempts[..<last].first { !mayRepeat(call, after: $0) }
        return wrong.map { "sent again after attempt \($0.ordinal), which was none to repeat" }
    }

    private func mayRepeat(_ call: DrawnCall, after attempt: AttemptRecord) -> Bool {
        switch attempt.act.outcome {
        case .answer(let status, _, _): call.retry?.repeats("\(status)") ?? false
        case .fails(.connectionTerminated):
            attempt.before > 0 || call.retry?.repeats("terminated") ?? false
        case .fails, .nothing: false
        }
    }
}
