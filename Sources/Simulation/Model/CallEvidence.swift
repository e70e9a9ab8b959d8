import Basics
import Rehearsal
import SimReactor

/// Everything that is known of one call of one request, from the side of its backend: which values it
/// can have had, and which failures have a reason.
struct CallEvidence {
    let record: RunRecord
    let config: DrawnConfig
    let endpoint: DrawnEndpoint
    let call: DrawnCall
    let request: RequestRecord
    let model: RequestModel
    let attempts: [AttemptRecord]

    init(
        _ call: DrawnCall, of request: RequestRecord, _ endpoint: DrawnEndpoint,
        _ config: DrawnConfig, _ record: RunRecord
    ) {
        self.record = record
        self.config = config
        self.endpoint = endpoint
        self.call = call
        self.request = request
        model = RequestModel(request: request.request, config: config)
        attempts = record.attempts(of: request).filter {
            $0.call.generation == config.generation && $0.call.endpoint == endpoint.index
                && $0.call.call == call.index
        }
    }

    private var backend: DrawnBackend { config.backends[call.backend] }

    /// On a connection where the backend had spoken unasked nobody can tell whose answer is whose.
    ///
    /// A request that met such a word at once may never have reached the backend.
    var isPoisoned: Bool {
        attempts.isEmpty
            ? record.speaksUnasked(call.backend) : attempts.contains(where: \.isPoisoned)
    }

    // MARK: Values

    /// What the call can have contributed, each value once.
    var values: [Tree] {
        var values: [Tree] = []
        for attempt in attempts where attempt.read != nil {
            guard let tree = shaped(attempt), !values.contains(tree) else { continue }
            values.append(tree)
        }
        return values
    }

    /// Whether a response that the call accepts had been read by this moment.
    func hasSucceeded(by moment: Instant) -> Bool {
        attempts.contains { attempt in
            attempt.read.map { $0 <= moment } ?? false && shaped(attempt) != nil
        }
    }

    /// The part that an attempt's answer makes; nil if it makes none.
    private func shaped(_ attempt: AttemptRecord) -> Tree? {
        guard case .answer(let status, let body, let tree?) = attempt.act.outcome,
            call.accepts(status), let shaped = call.shape.applied(to: tree)
        else { return nil }
        return call.isAtRoot && !shaped.isObject && !body.isEmpty ? nil : shaped
    }

    private func gaveBadShape(_ attempt: AttemptRecord) -> Bool {
        guard case .answer(let status, _, .some) = attempt.act.outcome else { return false }
        return call.accepts(status) && shaped(attempt) == nil
    }

    // MARK: Failures

    /// Whether a failure that was told has a reason.
    func justifies(_ failure: ToldFailure, told: [ToldFailure]) -> Bool {
        switch failure.kind {
        case .skipped: attempts.isEmpty && isSkipped(failure.because, told)
        // The simulated process never runs out of descriptors.
        case .cancelled, .collision, .connectionLimitReached: false
        case .responseTimeout: isTimeout(failure.limit)
        case .breakerOpen: backend.breaker != nil && hadTrouble
        case .queueFull: canBeFull || record.mayLackRoom
        case .destinationUnavailable: hadNoHost
        case .dnsError: hadWeather([.nameFails], rememberedFor: HostOutages.nameMemory)
        case .connectionRefused: hadWeather([.refuses])
        case .connectionTimeout: hadWeather([.silent, .silentHandshakes]) || record.isSlow
        case .certificateError:
            backend.tls?.verifies ?? false && hadWeather([.wrongCertificate])
        case .unexpectedStatus:
            isPoisoned
                || attempts.contains { attempt in
                    guard case .answer(let status, _, _) = attempt.act.outcome else { return false }
                    return !call.accepts(status) && attempt.read != nil
                        && (failure.status ?? status) == status
                }
        case .invalidJSON:
            isPoisoned
                || attempts.contains { attempt in
                    guard case .answer(let status, _, nil) = attempt.act.outcome else {
                        return false
                    }
                    return call.accepts(status) && attempt.read != nil
                }
        case .invalidShape:
            isPoisoned || attempts.contains { gaveBadShape($0) && $0.read != nil }
        case .connectionTerminated, .responseIncomplete, .responseBodySize, .protocolError:
            isPoisoned || hasBroken(failure.kind)
                || failure.kind == .connectionTerminated && hadWeather([.failsHandshakes])
                || failure.kind == .connectionTerminated && !call.isIdempotent
                    && record.losesConnections(to: call.backend)
        }
    }

    /// Whether an attempt went wrong in this way.
    private func hasBroken(_ kind: FailureKind) -> Bool {
        attempts.contains { attempt in
            if case .fails(let reason) = attempt.act.outcome { reason == kind } else { false }
        }
    }

    private func hadWeather(_ kinds: [HostOutages.Kind], rememberedFor memory: Int = 0) -> Bool {
        guard let answered = request.answered else { return false }
        // Whoever waits longest is told the end of an attempt, and that may have begun before.
        let from =
            Int(record.ms(request.read ?? request.began)) - 100 - backend.connectTimeout - memory
        return record.weather.any(
            kinds, of: backend.hosts, from: from, to: Int(record.ms(answered)) + 1)
    }

    /// Whether the core can have learned anything bad of the backend before the answer.
    private var hadTrouble: Bool {
        guard let worker = request.worker, let answered = request.answered else { return false }
        if record.weather.hides(backend.hosts) || record.isSlow
            || record.losesConnections(to: call.backend)
        {
            return true
        }
        let hadBadAnswer = record.attempts.contains { attempt in
            guard attempt.backend == call.backend, attempt.worker == worker,
                attempt.sent <= answered
            else { return false }
            guard case .answer(let status, _, _) = attempt.act.outcome else { return true }
            return status >= 500 || attempt.read == nil || attempt.isPoisoned
        }
        return hadBadAnswer
            || record.callSpans(to: call.backend, on: worker).contains {
                $0.from <= answered && $0.to - $0.from >= $0.limit
            }
    }

    /// Whether there can have been as many other calls at once as the backend takes.
    private var canBeFull: Bool {
        guard let limit = backend.maxConcurrent.map(config.share),
            let answered = request.answered
        else { return false }
        let spans = record.callSpans(to: call.backend, on: request.worker)
        return spans.count { $0.from <= answered && $0.to >= request.began } > limit
    }

    /// Whether no host can have been well at some moment.
    private var hadNoHost: Bool {
        guard let worker = request.worker, let answered = request.answered else { return false }
        return HostsModel(of: call.backend, config, on: worker, in: record)
            .canHaveNone(from: request.read ?? request.began, to: answered, in: record)
    }

    private func isTimeout(_ limit: Int?) -> Bool {
        guard let answered = request.answered else { return false }
        let start = request.read ?? request.began
        let timeout = call.timeout ?? endpoint.timeout
        guard [timeout, endpoint.deadline].contains(limit ?? timeout) else { return false }
        let strike = start + .milliseconds(limit ?? min(timeout, endpoint.deadline))
        guard answered >= strike else { return false }
        // An answer may have found no room, and the second try of a hedge decides then.
        if record.mayLackRoom, call.hedgeAfter != nil { return true }
        // With nothing to wait for, the call began at once: an answer before the strike was in time.
        return call.waitsFor.count > 0 || call.retry != nil
            || !attempts.contains { attempt in attempt.read.map { $0 < strike } ?? false }
    }

    private func isSkipped(_ because: String?, _ told: [ToldFailure]) -> Bool {
        // `Gateway-Failures` does not say why.
        guard attempts.isEmpty else { return false }
        let lacksPredecessor = call.after.map { endpoint.calls[$0] }.contains { other in
            (because ?? other.name) == other.name && canHaveFailed(other, told)
        }
        return lacksPredecessor
            || call.uses.filter { !$0.isOptional }.contains { use in
                switch use.source {
                case .param(let name):
                    (because ?? "params.\(name)") == "params.\(name)"
                        && model.value(of: name) == nil
                case .header(let name):
                    (because ?? "request.header.\(name)") == "request.header.\(name)"
                        && model.value(of: use.source) == nil
                case .bodyField(let name):
                    (because ?? "request.body.\(name)") == "request.body.\(name)"
                        && model.value(of: use.source) == nil
                case .call(let index, let path):
                    (because ?? endpoint.calls[index].name) == endpoint.calls[index].name
                        && lacksValue(endpoint.calls[index], path, told)
                }
            }
    }

    /// Whether a call in `after` can have failed; one that `when` leaves out counts as settled.
    private func canHaveFailed(_ other: DrawnCall, _ told: [ToldFailure]) -> Bool {
        guard model.isWanted(other) else { return false }
        if told.contains(where: { $0.call == other.name }) { return true }
        let evidence = CallEvidence(other, of: request, endpoint, config, record)
        return evidence.isPoisoned || record.mayLackRoom || evidence.values.isEmpty
    }

    /// Whether a call did not bring what another one needs of it.
    private func lacksValue(_ other: DrawnCall, _ path: String, _ told: [ToldFailure]) -> Bool {
        guard model.isWanted(other) else { return true }
        if told.contains(where: { $0.call == other.name }) { return true }
        let evidence = CallEvidence(other, of: request, endpoint, config, record)
        // Where there was no room for its answer, it brought nothing.
        if evidence.isPoisoned || record.mayLackRoom { return true }
        return evidence.values.isEmpty
            || evidence.values.contains { value in
                guard case .scalar(let text)? = value.value(at: TreePath(path)) else { return true }
                return text == "null"
            }
    }
}

extension RunRecord {
    /// Answers and requests may be refused for want of memory; what a reload says holds at once for
    /// requests that began before it, too.
    var mayLackRoom: Bool { configs.contains { $0.limits.bufferedBytes != nil } }

    /// Packets may take so long that connecting does, too.
    var isSlow: Bool { network.stalls != nil }

    /// Everything that a backend was asked.
    private func served(by backend: Int) -> [any HostRequestRecord] {
        attempts.filter { $0.backend == backend } + probes.filter { $0.backend == backend }
    }

    /// The configurations under which an answered request may have run: those of its time.
    func configs(for request: RequestRecord) -> [DrawnConfig] {
        guard let answered = request.answered else { return [] }
        let (from, to) = (ms(request.began), ms(answered))
        // A worker goes on with a configuration until the message with the next one arrives.
        let delay = network.messageLatency.upperBound.inMilliseconds
        return configs.filter { config in
            let begins = config.generation == 0 ? -1 : reloads[config.generation - 1]
            let ends =
                config.generation < reloads.count ? reloads[config.generation] : Int.max
            return Double(begins) <= to && Double(ends) + delay >= from
        }
    }

    /// Whether a backend ever said something between two requests.
    func speaksUnasked(_ backend: Int) -> Bool {
        served(by: backend).contains { $0.act.afterwards?.kind == .speaks || $0.act.isPoisonous }
    }

    /// Whether a backend ever closed a connection behind an answer, so that a request can have met it.
    func losesConnections(to backend: Int) -> Bool {
        served(by: backend).contains { $0.act.afterwards != nil || $0.act.ending != .stays }
    }
}
