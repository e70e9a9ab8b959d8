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
    var values: [Tree] { values { _ in true } }

    /// The same, of these attempts.
    func values(where isMeant: (AttemptRecord) -> Bool) -> [Tree] {
        var values: [Tree] = []
        for attempt in attempts where isMeant(attempt) {
            if let tree = value(of: attempt), !values.contains(tree) { values.append(tree) }
        }
        return values
    }

    /// The value of one attempt; nil if it has none, or none in time.
    func value(of attempt: AttemptRecord) -> Tree? {
        guard let read = attempt.read, read <= request.callsEnded ?? read else { return nil }
        return shaped(attempt)
    }

    /// The part that results from the response of an attempt; nil if it gives none.
    private func shaped(_ attempt: AttemptRecord) -> Tree? {
        guard case .response(let status, let body, let tree?) = attempt.script.outcome,
            call.accepts(status), let shaped = call.shape.applied(to: tree)
        else { return nil }
        let fits =
            switch call.place {
            case .root: shaped.isObject || body.isEmpty
            case .array where !call.hasList: shaped.elements != nil || body.isEmpty
            case .array: true
            case .member, .none: true
            }
        return fits ? shaped : nil
    }

    private func gaveBadShape(_ attempt: AttemptRecord) -> Bool {
        guard case .response(let status, _, .some) = attempt.script.outcome else { return false }
        return call.accepts(status) && shaped(attempt) == nil
    }

    // MARK: Failures

    /// Whether a listed failure has a cause.
    func justifies(_ failure: ListedFailure, among listed: [ListedFailure]) -> Bool {
        switch failure.kind {
        // No drawn request has so many elements.
        case .tooManyElements, .truncated: false
        case .skipped: attempts.isEmpty && canBeSkipped(failure.because, listed)
        // The simulated process never runs out of descriptors, and its backends compress nothing.
        case .cancelled, .collision, .connectionLimitReached, .responseContentCoding: false
        case .responseTimeout: isTimeout(failure.limit)
        case .breakerOpen: backend.breaker != nil
        case .queueFull: limitsConcurrency || excused(.memory, if: record.mayLackRoom)
        case .destinationUnavailable: backend.health != nil
        case .dnsError: hadOutage([.nameFails], cachedFor: HostOutages.nameFailureMemory)
        case .connectionRefused: hadOutage([.refuses])
        case .connectionTimeout:
            hadOutage([.silent, .silentHandshakes]) || excused(.outage, if: record.isSlow)
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
            isAmbiguous || hasBroken(failure.kind)
                || excused(.lostConnection, if: mayHaveLostConnection(failure.kind))
                || failure.kind == .connectionTerminated && hadOutage([.failsHandshakes])
                || failure.kind == .connectionTerminated && !call.isIdempotent
                    && excused(.lostConnection, if: record.losesConnections(to: call.backend))
        }
    }

    /// Whether the backend caused this failure in an attempt.
    private func hasBroken(_ kind: FailureKind) -> Bool {
        attempts.contains { attempt in
            if case .fails(let reason) = attempt.script.outcome { reason == kind } else { false }
        }
    }

    private func hadOutage(_ kinds: [HostOutages.Kind], cachedFor memory: Int = 0) -> Bool {
        guard let responded = request.callsEnded else { return false }
        // The failure may be that of a connection attempt which began before this request.
        let from =
            Int(record.ms(request.read ?? request.began)) - 100 - backend.connectTimeout - memory
        return excused(
            .outage,
            if: record.hostOutages.hasOutage(
                kinds, of: backend.hosts, from: from, to: Int(record.ms(responded)) + 1))
    }

    private func excused(_ excuse: Excuse, if applies: Bool) -> Bool {
        record.excuses.add(excuse, request, if: applies)
    }

    /// A reload applies the limit of a later configuration to the calls in progress.
    private var limitsConcurrency: Bool {
        record.configs.contains { $0.backends[call.backend].maxConcurrent != nil }
    }

    /// A call that had its response before has no running time limit: an assertion of the client.
    private func isTimeout(_ limit: Int?) -> Bool {
        guard let responded = request.callsEnded else { return false }
        let start = request.read ?? request.began
        let timeout = call.timeout ?? endpoint.timeout
        guard [timeout, endpoint.deadline].contains(limit ?? timeout) else { return false }
        let expires = start + .milliseconds(limit ?? min(timeout, endpoint.deadline))
        return responded >= expires
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
        return evidence.isAmbiguous || excused(.lostConnection, if: evidence.mayBeCancelled)
            || evidence.values.isEmpty
            || other.hasList && ListModel(evidence).hasTooFewValues
            || excused(.memory, if: record.mayLackRoom)
    }

    /// Whether a call may have given no value for a reference of another call.
    private func lacksValue(_ other: DrawnCall, _ path: String, _ listed: [ListedFailure]) -> Bool {
        guard conditions(listed).mustBeMade(other) else { return true }
        if listed.contains(where: { $0.call == other.name }) { return true }
        let evidence = CallEvidence(other, of: request, endpoint, config, record)
        // Its response may have exceeded `buffered_bytes`.
        if evidence.isAmbiguous || excused(.lostConnection, if: evidence.mayBeCancelled)
            || excused(.memory, if: record.mayLackRoom)
        {
            return true
        }
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
        guard let responded = request.callsEnded else { return [] }
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
