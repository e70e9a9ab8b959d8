import Basics
import Rehearsal

/// Configured limits hold: concurrent calls, concurrent requests, attempts.
struct LimitsCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for config in record.configs {
            for worker in record.workers.map(\.name) {
                checkConcurrency(config, worker)
                checkRequests(config, worker)
            }
        }
        for client in record.clients {
            for request in client.sent { checkAttempts(request) }
        }
    }

    // MARK: Concurrency

    private func checkConcurrency(_ config: DrawnConfig, _ worker: String) {
        for (index, backend) in config.backends.enumerated() {
            let limits = record.continuedLimits(from: config) { $0.backends[index].maxConcurrent }
            guard let limit = limits.max() else { continue }
            let generations = config.generation..<config.generation + limits.count
            let attempts = record.attempts.filter {
                $0.backend == index && $0.worker == worker
                    && generations.contains($0.call.generation)
                    // A host that has closed its connection does not see a cancellation.
                    && !$0.isUnseen
            }
            guard !attempts.contains(where: \.isAmbiguous) else { continue }
            let most = ConcurrentSpan.most(
                attempts.map { ConcurrentSpan(from: $0.sent, to: $0.ended) })
            if most > limit {
                violations.add(
                    .limits, nil,
                    "\(most) concurrent calls to \(backend.name), the limit is \(limit)")
            }
        }
    }

    private func checkRequests(_ config: DrawnConfig, _ worker: String) {
        func most(_ endpoint: Int?) -> Int {
            var spans: [ConcurrentSpan] = []
            for client in record.clients where client.worker == worker {
                for request in client.sent {
                    let attempts = record.attempts(of: request).filter {
                        $0.call.generation == config.generation
                            && $0.call.endpoint == endpoint ?? $0.call.endpoint
                    }
                    // From its first call to its response the request is certainly in progress.
                    guard let first = attempts.map(\.sent).min(), let responded = request.responded
                    else { continue }
                    // A response that waits for the windows of its client needs no permit.
                    let end =
                        request.http2 == nil ? responded : attempts.map(\.sent).max() ?? responded
                    spans.append(ConcurrentSpan(from: first, to: end))
                }
            }
            return ConcurrentSpan.most(spans)
        }
        for endpoint in config.endpoints {
            guard let limit = endpoint.maxInFlight.map(config.share) else { continue }
            let found = most(endpoint.index)
            if found > limit {
                violations.add(
                    .limits, nil,
                    "\(found) concurrent requests of e\(endpoint.index), the limit is \(limit)")
            }
        }
        guard let limit = config.limits.requestsInFlight.map(config.share),
            record.configs.count == 1
        else { return }
        let found = most(nil)
        if found > limit {
            violations.add(.limits, nil, "\(found) concurrent requests, the limit is \(limit)")
        }
    }

    // MARK: Attempts

    private func checkAttempts(_ request: RequestRecord) {
        for config in record.configs {
            guard let endpoint = request.request.endpoint.map({ config.endpoints[$0] }) else {
                continue
            }
            for call in endpoint.calls {
                let attempts = record.attempts(of: request).filter {
                    $0.call.generation == config.generation && $0.call.call == call.index
                }
                guard attempts.count > 1 else { continue }
                if call.isIdempotent, attempts.contains(where: \.isAmbiguous) { continue }
                if let fault = fault(of: call, attempts) {
                    violations.add(.limits, request.mark, "\(attempts[0].call.text): \(fault)")
                }
            }
        }
    }

    private func fault(of call: DrawnCall, _ attempts: [AttemptRecord]) -> String? {
        // What a host has not processed may be sent again, whatever its method (RFC 9113 8.7).
        let processed = attempts.count { !$0.wasRefused }
        if !call.isIdempotent {
            return processed > 1 ? "a \(call.method) was sent \(processed) times" : nil
        }
        // One more for each resend after the host closed a reused connection.
        let resent = attempts.count { $0.mayBeResent || mayHaveLostPong($0) }
        let allowed = (call.retry?.attempts ?? 1) * (call.hedgeAfter == nil ? 1 : 2) + resent
        if attempts.count > allowed { return "\(attempts.count) attempts, \(allowed) are allowed" }
        guard call.hedgeAfter == nil else { return nil }
        // Those of several connections may arrive in another order. Of two that were sent at the same time, the
        // refused one was the first.
        let ordered = attempts.sorted {
            $0.sent == $1.sent ? $0.wasRefused && !$1.wasRefused : $0.sent < $1.sent
        }
        let wrong = ordered.dropLast().first { !mayRepeat(call, after: $0) }
        return wrong.map { "retried after attempt \($0.ordinal), whose result must not be retried" }
    }

    /// Whether the gateway may have ended the connection for a PING that was not acknowledged in time.
    private func mayHaveLostPong(_ attempt: AttemptRecord) -> Bool {
        guard record.mayLosePongs, attempt.http2 != nil else { return false }
        return !attempt.hasReadHead && attempt.read == nil
    }

    private func mayRepeat(_ call: DrawnCall, after attempt: AttemptRecord) -> Bool {
        if mayHaveLostPong(attempt) { return true }
        if attempt.http2 != nil, attempt.mayBeResent || attempt.wasLost {
            return attempt.mayBeResent || call.retry?.repeats("terminated") ?? false
        }
        return switch attempt.script.outcome {
        case .response(let status, _, _): call.retry?.repeats("\(status)") ?? false
        case .fails(.connectionTerminated):
            attempt.mayBeResent || call.retry?.repeats("terminated") ?? false
        case .fails, .nothing: false
        }
    }
}
