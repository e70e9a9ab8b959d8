import Assembly
import Basics
import Rehearsal

/// The limits of endpoints with `proxy` hold until the last byte of a response: `max_concurrent` of the
/// backend, `max_in_flight` of the endpoint, `limits.streams`.
struct StreamLimitsCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for config in record.configs {
            for worker in record.workers.map(\.name) { check(config, worker) }
        }
    }

    private func check(_ config: DrawnConfig, _ worker: String) {
        let models = self.models.filter { $0.request.worker == worker }
        for (index, backend) in config.streamBackends.enumerated() {
            let limits = record.continuedLimits(from: config) {
                $0.streamBackends[index].maxConcurrent
            }
            let generations = config.generation..<config.generation + limits.count
            let spans = models.filter { model in
                model.proxy?.backend == index
                    && model.config.map { generations.contains($0.generation) } ?? false
            }.flatMap(\.attempts).map { ConcurrentSpan(from: $0.sentAt, to: $0.ended) }
            check(spans, limits.max(), "calls to \(backend.name)")
        }
        let relayed = models.filter { $0.config?.generation == config.generation }
        for endpoint in config.endpoints where endpoint.proxy != nil {
            let spans = relayed.filter { $0.endpoint?.index == endpoint.index }
                .compactMap { span(of: $0, from: $0.attempts.first?.sentAt) }
            check(spans, endpoint.maxInFlight.map(config.share), "requests of e\(endpoint.index)")
        }
        guard record.configs.count == 1 else { return }
        let streams = relayed.filter { $0.origin?.sendsBody ?? false }
            .compactMap { span(of: $0, from: $0.request.responded) }
        check(streams, config.limits.streams.map(config.share), "streams")
    }

    /// The time in which a request is certainly in progress.
    private func span(of model: StreamModel, from: Instant?) -> ConcurrentSpan? {
        guard let from, let ended = model.handedOverAt else { return nil }
        return ConcurrentSpan(from: from, to: max(from, ended))
    }

    private func check(_ spans: [ConcurrentSpan], _ limit: Int?, _ what: String) {
        guard let limit else { return }
        let most = ConcurrentSpan.most(spans)
        if most > limit {
            violations.add(.limits, nil, "\(most) concurrent \(what), the limit is \(limit)")
        }
    }
}

extension StreamAttempt {
    fileprivate var sendsBody: Bool { script.sendsBody(to: head) }
}
