import Basics
import Rehearsal
import SimReactor

/// What the record of a run shows about one call of one request: its possible values, and which
/// failures have a cause.
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

    /// The backend sent unsolicited data on a connection of the call, so responses cannot be
    /// assigned.
    ///
    /// If no attempt was recorded, that data may have ended the call before the backend read the
    /// request.
    var isAmbiguous: Bool {
        attempts.isEmpty
            ? record.sendsUnsolicitedData(call.backend) : attempts.contains(where: \.isAmbiguous)
    }

    /// Whether the gateway may have cancelled the call before it read the response: a host that has closed its
    /// connection does not see a reset of the stream.
    var mayBeCancelled: Bool {
        attempts.contains { attempt in
            guard let read = attempt.read, let closed = attempt.http2?.hostClosed else {
                return false
            }
            return closed <= read
        }
    }

    // MARK: Values

    /// The values that the call may have contributed, without duplicates.
    ///
    /// Over HTTP/2 the gateway also reads, and discards, responses that arrive after it cancelled the call.
    var values: [Tree] {
        var values: [Tree] = []
        for attempt in attempts {
            guard let read = attempt.read, read <= request.responded ?? read,
                let tree = shaped(attempt), !values.contains(tree)
            else { continue }
            values.append(tree)
        }
        return values
    }

    /// Whether the gateway had read a response that the call accepts by this moment.
    func hasSucceeded(by moment: Instant) -> Bool {
        attempts.contains { attempt in
            attempt.read.map { $0 <= moment } ?? false && shaped(attempt) != nil
        }
    }

    /// The part that results from the response of an attempt; nil if it gives none.
    private func shaped(_ attempt: AttemptRecord) -> Tree? {
        guard case .response(let status, let body, let tree?) = attempt.script.outcome,
            call.accepts(status), let shaped = call.shape.applied(to: tree)
        else { return nil }
        return call.isAtRoot && !shaped.isObject && !body.isEmpty ? nil : shaped
    }

    private func gaveBadShape(_ attempt: AttemptRecord) -> Bool {
        guard case .response(let status, _, .some) = attempt.script.outcome else { return false }
        return call.accepts(status) && shaped(attempt) == nil
    }

    // MARK: Failures

    /// Whether a listed failure has a cause.
    func justifies(_ failure: ListedFailure, among listed: [ListedFailure]) -> Bool {
        switch failure.kind {
        case .skipped: attempts.isEmpty && canBeSkipped(failure.because, listed)
        // The simulated process never runs out of descriptors, and its backends compress nothing.
        case .cancelled, .collision, .connectionLimitReached, .responseContentCoding: false
        case .responseTimeout: isTimeout(failure.limit)
        case .breakerOpen: backend.breaker != nil && hadFailures
        case .queueFull: canBeFull || record.mayLackRoom
        case .destinationUnavailable: mayHaveNoHost
        case .dnsError: hadOutage([.nameFails], cachedFor: HostOutages.nameFailureMemory)
        case .connectionRefused: hadOutage([.refuses])
        case .connectionTimeout: hadOutage([.silent, .silentHandshakes]) || record.isSlow
        case .certificateError:
            backend.tls?.verifies ?? false && hadOutage([.wrongCertificate])
        case .unexpectedStatus:
            isAmbiguous
                || attempts.contains { attempt in
                    guard case .response(let status, _, _) = attempt.script.outcome else {
                        return false
                    }
                    return !call.accepts(status) && attempt.read != nil
                        && (failure.status ?? status) == status
                }
        case .invalidJSON:
            isAmbiguous
                || attempts.contains { attempt in
                    guard case .response(let status, _, nil) = attempt.script.outcome else {
                        return false
                    }
                    return call.accepts(status) && attempt.read != nil
                }
        case .invalidShape:
            isAmbiguous || attempts.contains { gaveBadShape($0) && $0.read != nil }
        // No response of the simulation has so large a head.
        case .responseHeaderSize, .responseHeaderCount: false
        case .connectionTerminated, .responseIncomplete, .responseBodySize, .protocolError:
            isAmbiguous || hasBroken(failure.kind) || mayHaveLostConnection(failure.kind)
                || failure.kind == .connectionTerminated && hadOutage([.failsHandshakes])
                || failure.kind == .connectionTerminated && !call.isIdempotent
                    && record.losesConnections(to: call.backend)
        }
    }

    /// Whether the backend caused this failure in an attempt.
    private func hasBroken(_ kind: FailureKind) -> Bool {
        attempts.contains { attempt in
            if case .fails(let reason) = attempt.script.outcome { reason == kind } else { false }
        }
    }

    private func hadOutage(_ kinds: [HostOutages.Kind], cachedFor memory: Int = 0) -> Bool {
        guard let responded = request.responded else { return false }
        // The failure may be that of a connection attempt which began before this request.
        let from =
            Int(record.ms(request.read ?? request.began)) - 100 - backend.connectTimeout - memory
        return record.hostOutages.hasOutage(
            kinds, of: backend.hosts, from: from, to: Int(record.ms(responded)) + 1)
    }

    /// Whether the worker may have recorded a failure of the backend before the response.
    private var hadFailures: Bool {
        guard let worker = request.worker, let responded = request.responded else { return false }
        if record.hostOutages.hasUnobservedOutage(of: backend.hosts) || record.isSlow
            || record.losesConnections(to: call.backend)
        {
            return true
        }
        let hadFailedResponse = record.attempts.contains { attempt in
            guard attempt.backend == call.backend, attempt.worker == worker,
                attempt.sent <= responded
            else { return false }
            guard case .response(let status, _, _) = attempt.script.outcome else { return true }
            return status >= 500 || attempt.read == nil || attempt.isAmbiguous
        }
        return hadFailedResponse
            || record.callSpans(to: call.backend, on: worker).contains {
                $0.from <= responded && $0.to - $0.from >= $0.limit
            }
    }

    /// Whether as many other calls as the backend allows may have been in progress. A reload may have
    /// lowered the limit meanwhile.
    private var canBeFull: Bool {
        let limits = record.continuedLimits(from: config) {
            $0.backends[call.backend].maxConcurrent
        }
        guard let limit = limits.min(), let responded = request.responded else { return false }
        let spans = record.callSpans(to: call.backend, on: request.worker)
        return spans.count { $0.from <= responded && $0.to >= request.began } > limit
    }

    /// Whether there may have been a moment without a healthy host.
    private var mayHaveNoHost: Bool {
        guard let worker = request.worker, let responded = request.responded else { return false }
        return HostsModel(of: call.backend, config, on: worker, in: record)
            .canLackHosts(from: request.read ?? request.began, to: responded, in: record)
    }

    private func isTimeout(_ limit: Int?) -> Bool {
        guard let responded = request.responded else { return false }
        let start = request.read ?? request.began
        let timeout = call.timeout ?? endpoint.timeout
        guard [timeout, endpoint.deadline].contains(limit ?? timeout) else { return false }
        let expires = start + .milliseconds(limit ?? min(timeout, endpoint.deadline))
        guard responded >= expires else { return false }
        // A response may have exceeded `buffered_bytes`; then the second attempt of a hedge decides.
        if record.mayLackRoom, call.hedgeAfter != nil { return true }
        // A call without predecessors began at once: a response before the timeout was in time.
        return call.waitsFor.count > 0 || call.retry != nil
            || !attempts.contains { attempt in
                decides(attempt) && attempt.read.map { $0 < expires } ?? false
            }
    }

    /// A hedged call waits for its other request after a 429 or a server error, unless it accepts that.
    private func decides(_ attempt: AttemptRecord) -> Bool {
        guard call.hedgeAfter != nil, case .response(let status, _, _) = attempt.script.outcome
        else { return true }
        return call.accepts(status) || status != 429 && status < 500
    }

    private func canBeSkipped(_ because: String?, _ listed: [ListedFailure]) -> Bool {
        // `Gateway-Failures` does not contain the reason.
        guard attempts.isEmpty else { return false }
        let lacksPredecessor = call.after.map { endpoint.calls[$0] }.contains { other in
            (because ?? other.name) == other.name && canHaveFailed(other, listed)
        }
        return lacksPredecessor
            || call.uses.contains { use in
                switch use.source {
                case .param(let name):
                    (because ?? "params.\(name)") == "params.\(name)"
                        && model.isMissing(use)
                case .header(let name):
                    (because ?? "request.header.\(name)") == "request.header.\(name)"
                        && model.isMissing(use)
                case .bodyField(let name):
                    (because ?? "request.body.\(name)") == "request.body.\(name)"
                        && model.isMissing(use)
                case .call(let index, let path):
                    !use.isOptional
                        && (because ?? endpoint.calls[index].name) == endpoint.calls[index].name
                        && lacksValue(endpoint.calls[index], path, listed)
                // Only conditions use these.
                case .query, .client, .caller: false
                }
            }
    }

    private func conditions(_ listed: [ListedFailure]) -> ConditionModel {
        ConditionModel(
            record: record, request: request, endpoint: endpoint, config: config, listed: listed)
    }

    /// Whether a call in `after` may have failed. A call that `when` disables counts as settled.
    private func canHaveFailed(_ other: DrawnCall, _ listed: [ListedFailure]) -> Bool {
        guard conditions(listed).canBeMade(other) else { return false }
        if listed.contains(where: { $0.call == other.name }) { return true }
        let evidence = CallEvidence(other, of: request, endpoint, config, record)
        return evidence.isAmbiguous || evidence.mayBeCancelled || record.mayLackRoom
            || evidence.values.isEmpty
    }

    /// Whether a call may have given no value for a reference of another call.
    private func lacksValue(_ other: DrawnCall, _ path: String, _ listed: [ListedFailure]) -> Bool {
        guard conditions(listed).mustBeMade(other) else { return true }
        if listed.contains(where: { $0.call == other.name }) { return true }
        let evidence = CallEvidence(other, of: request, endpoint, config, record)
        // Its response may have exceeded `buffered_bytes`.
        if evidence.isAmbiguous || evidence.mayBeCancelled || record.mayLackRoom { return true }
        return evidence.values.isEmpty
            || evidence.values.contains { value in
                guard case .scalar(let text)? = value.value(at: TreePath(path)) else { return true }
                return text == "null"
            }
    }
}

extension RunRecord {
    /// Requests and responses may be refused because `buffered_bytes` is exhausted. A reload
    /// changes the limit for requests that began before it, too.
    var mayLackRoom: Bool { configs.contains { $0.limits.bufferedBytes != nil } }

    /// Packets may be delayed so long that a connection attempt times out.
    var isSlow: Bool { network.stalls != nil }

    /// All requests that a backend received.
    func hostRequests(to backend: Int) -> [HostRequest] {
        attempts.filter { $0.backend == backend } + probes.filter { $0.backend == backend }
    }

    /// The configurations under which a request may have been served.
    func configs(for request: RequestRecord) -> [DrawnConfig] {
        guard let responded = request.responded else { return [] }
        // A connection may be refused before the client sends its first request.
        let (from, to) = (ms(min(request.began, responded)), ms(responded))
        // A worker uses a configuration until the message with the next one arrives.
        let delay = network.messageLatency.upperBound.inMilliseconds
        return configs.filter { config in
            let begins = config.generation == 0 ? -1 : reloads[config.generation - 1]
            let ends =
                config.generation < reloads.count ? reloads[config.generation] : Int.max
            return Double(begins) <= to && Double(ends) + delay >= from
        }
    }

    /// Each worker's limits of one concurrency limit: that of a configuration, and those which later
    /// configurations give it. A reload keeps the calls in progress, because hosts stay the same,
    /// until a configuration has no limit.
    func continuedLimits(from config: DrawnConfig, _ limit: (DrawnConfig) -> Int?) -> [Int] {
        configs[config.generation...].map { config in limit(config).map(config.share) }
            .prefix { $0 != nil }.compactMap { $0 }
    }

    /// Whether a backend ever sends data between two requests.
    func sendsUnsolicitedData(_ backend: Int) -> Bool {
        hostRequests(to: backend).contains {
            $0.script.idleEvent?.kind == .sendsData || $0.script.hasTrailingData
        }
    }

    /// Whether a backend ever ends a connection behind a response, so that a request may meet the
    /// end.
    func losesConnections(to backend: Int) -> Bool {
        disturbsConnections(to: backend)
            || hostRequests(to: backend).contains {
                $0.script.idleEvent != nil || $0.script.ending != .stays
            }
    }
}
