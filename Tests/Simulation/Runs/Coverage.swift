import Rehearsal
import SimReactor

/// What a number of seeds reached. A simulation that never meets a fault proves nothing about it.
package struct Coverage: Sendable {
    /// Number of responses by status.
    package private(set) var statuses: [Int: Int] = [:]
    /// Number of failures that responses list, by kind.
    package private(set) var failures: [String: Int] = [:]
    /// Number of times that a host was certainly unavailable to a worker, by reason.
    package private(set) var unavailable: [UnavailabilityReason: Int] = [:]
    /// How often each behaviour took place.
    package private(set) var behaviours: [Behaviour: Int] = [:]
    package private(set) var streams: [StreamBehaviour: Int] = [:]
    package private(set) var http2: [HTTP2Behaviour: Int] = [:]
    /// Number of runs in which each fault could happen.
    package private(set) var faults: [Fault: Int] = [:]

    /// The statuses and the kinds of failures that enough seeds must reach.
    private static let statuses = [
        200, 204, 400, 401, 403, 404, 405, 408, 413, 414, 415, 421, 429, 431, 501, 502, 503, 504,
    ]
    private static let failures = [
        "connection_refused", "connection_timeout", "dns_error", "connection_terminated",
        "http_response_timeout", "http_response_incomplete", "http_response_body_size",
        "http_protocol_error", "tls_certificate_error", "unexpected_status", "invalid_json",
        "invalid_shape", "breaker_open", "queue_full", "skipped", "collision",
        "destination_unavailable",
    ]

    package init() {}

    init(of records: [RunRecord]) {
        for record in records { add(record) }
    }

    /// Whatever none of the seeds reached.
    package var missing: [String] {
        func names<Key: Hashable>(_ keys: [Key], without counts: [Key: Int]) -> [String] {
            keys.filter { counts[$0, default: 0] == 0 }.map { "\($0)" }
        }
        return names(Self.statuses, without: statuses) + names(Self.failures, without: failures)
            + names(UnavailabilityReason.allCases, without: unavailable)
            + names(Behaviour.allCases, without: behaviours)
            + names(StreamBehaviour.allCases, without: streams)
            + names(HTTP2Behaviour.allCases, without: http2)
            + names(Fault.allCases, without: faults)
    }

    package mutating func add(_ other: Coverage) {
        statuses.merge(other.statuses, uniquingKeysWith: +)
        failures.merge(other.failures, uniquingKeysWith: +)
        unavailable.merge(other.unavailable, uniquingKeysWith: +)
        behaviours.merge(other.behaviours, uniquingKeysWith: +)
        streams.merge(other.streams, uniquingKeysWith: +)
        http2.merge(other.http2, uniquingKeysWith: +)
        faults.merge(other.faults, uniquingKeysWith: +)
    }

    private mutating func add(_ record: RunRecord) {
        streams.merge(StreamBehaviour.counts(in: record), uniquingKeysWith: +)
        http2.merge(HTTP2Behaviour.counts(in: record), uniquingKeysWith: +)
        for fault in record.rates.active { faults[fault, default: 0] += 1 }
        for model in HostsModel.all(of: record) {
            unavailable[.ejected, default: 0] += model.ejected.joined().count
            unavailable[.unhealthy, default: 0] += model.unhealthy.joined().count
        }
        for behaviour in Behaviour.allCases {
            behaviours[behaviour, default: 0] += behaviour.count(in: record)
        }
        for response in record.requests.compactMap({ $0?.response }) {
            statuses[response.status, default: 0] += 1
            for failure in ListedFailure.all(of: response) {
                failures[failure.kind.rawValue, default: 0] += 1
            }
        }
    }
}

/// Behaviour of the gateway that the runs must reach.
package enum Behaviour: CaseIterable, Sendable {
    /// A call with the method PATCH, or HEAD, received a response.
    case patchCalls, headCalls
    /// A call with `after` was made.
    case callsAfterOthers
    /// A call was made without an optional value, or with one.
    case absentOptionalValues, presentOptionalValues
    /// A query parameter of the client was forwarded by `query: all`.
    case forwardedQueries
    /// A client received a response on a unix socket.
    case unixSockets
    /// A call, or a health check, was sent over TLS.
    case secureCalls, secureChecks
    /// A call was sent over TLS without verification to a host with a wrong certificate.
    case unverifiedCalls
    /// A TLS handshake used the name in `server_name`.
    case otherServerNames
    /// A page's origin was allowed, or not; a preflight was.
    case allowedOrigins, otherOrigins, allowedPreflights
    /// A call was made for an authenticated caller; a request got 400, 401 or 403 for its credential.
    case authenticatedCalls, ambiguousCredentials, refusedCredentials, missingScopes
    /// A caller met the conditions of an endpoint, or not.
    case metRequirements, unmetRequirements
    /// A credential got 429 after too many others of its address.
    case limitedFailures
    /// A call whose condition tests an array was made.
    case callsByElement
    /// A key was valid before a reload, and refused after it.
    case removedKeys
    /// A call whose condition uses a response was made, or not.
    case callsByResponse, callsNotMadeByResponse
    /// A call sent the header of its endpoint, or its own instead.
    case sharedHeaders, replacedHeaders
    /// A host was ejected for longer than the first time.
    case grownEjections
    /// A rate limit refused a request: by a key that is known early or late, or without a key.
    case quotaOfClients, quotaOfParameters, quotaOfAll
    /// A request was charged to several limits.
    case severalLimits
    /// The condition of a limit held for a request whose calls were made, or did not.
    case limitsThatApply, limitsThatDoNot

    func count(in record: RunRecord) -> Int {
        switch self {
        case .patchCalls: responded(record) { $0.method == "PATCH" }
        case .headCalls: responded(record) { $0.method == "HEAD" }
        case .callsAfterOthers: responded(record) { !$0.after.isEmpty }
        case .callsByResponse: responded(record) { $0.when?.calls.isEmpty == false }
        case .callsNotMadeByResponse: notMadeByResponse(record)
        case .sharedHeaders:
            record.attempts.count { $0.message["X-Shared"]?.hasPrefix("c") == false }
        case .replacedHeaders:
            record.attempts.count { $0.message["X-Shared"]?.hasPrefix("c") == true }
        case .absentOptionalValues:
            record.attempts.count { hasOptional($0, record, isThere: false) }
        case .presentOptionalValues:
            record.attempts.count { hasOptional($0, record, isThere: true) }
        case .forwardedQueries:
            record.attempts.count { attempt in
                record.configs[attempt.call.generation].endpoints[attempt.call.endpoint]
                    .forwardsAllQuery
                    && attempt.message.query.contains { ["tag", "debug"].contains($0.name) }
            }
        case .unixSockets:
            record.configs[0].listensOnUnixSocket
                ? record.requests.count { $0?.response != nil } : 0
        case .secureCalls: record.attempts.count { $0.session != nil && $0.read != nil }
        case .secureChecks: record.probes.count { $0.session != nil && $0.read != nil }
        case .unverifiedCalls:
            record.attempts.count { attempt in
                attempt.session.map { !$0.certificateNames.contains($0.serverName) } ?? false
            }
        case .otherServerNames: record.attempts.count { $0.session?.serverName == DrawnTLS.alias }
        case .allowedOrigins:
            origins(record) { $0.status != 204 && $0["Access-Control-Allow-Origin"] != nil }
        case .otherOrigins: origins(record) { $0["Access-Control-Allow-Origin"] == nil }
        case .allowedPreflights:
            origins(record) { $0.status == 204 && $0["Access-Control-Allow-Methods"] != nil }
        case .authenticatedCalls: record.attempts.count { $0.message["X-Caller"] != nil }
        case .ambiguousCredentials: refusals(record) { $0.status == 400 }
        case .refusedCredentials: refusals(record) { $0.status == 401 && $0.reason != "missing" }
        case .missingScopes: refusals(record) { $0.reason == "scope" }
        case .metRequirements:
            record.attempts.count { attempt in
                record.configs[attempt.call.generation].endpoints[attempt.call.endpoint]
                    .auth?.requirements.isEmpty == false
            }
        case .unmetRequirements: refusals(record) { $0.reason == "claims" }
        case .limitedFailures:
            record.requests.compactMap { $0 }.count { record.limitRefusal(of: $0) == .authFailures }
        case .callsByElement: responded(record) { $0.when?.testsElements == true }
        case .removedKeys: removedKeys(record)
        case .grownEjections: HostsModel.all(of: record).reduce(0) { $0 + $1.grownEjections }
        case .quotaOfClients: refusals(record, by: "per_client")
        case .quotaOfParameters: refusals(record, by: "per_language")
        case .quotaOfAll: refusals(record, by: "together")
        case .severalLimits:
            record.attempts.count { attempt in
                record.configs[attempt.call.generation].endpoints[attempt.call.endpoint]
                    .limitUses.count > 1
            }
        case .limitsThatApply: conditionalLimits(record, apply: true)
        case .limitsThatDoNot: conditionalLimits(record, apply: false)
        }
    }

    /// Complete responses without a call whose condition uses a response.
    private func notMadeByResponse(_ record: RunRecord) -> Int {
        record.requests.compactMap { $0 }.count { request in
            guard let index = request.request.endpoint,
                request.response?["Gateway-Complete"] == "true"
            else { return false }
            let made = record.attempts(of: request).map(\.call.call)
            return record.configs.count == 1
                && record.configs[0].endpoints[index].calls.contains { call in
                    call.when?.calls.isEmpty == false && !made.contains(call.index)
                }
        }
    }

    private func hasOptional(
        _ attempt: AttemptRecord, _ record: RunRecord, isThere: Bool
    ) -> Bool {
        guard let request = record.request(of: attempt) else { return false }
        let model = RequestModel(
            request: request.request, config: record.configs[attempt.call.generation])
        return record.call(of: attempt).uses.contains { use in
            use.isOptional && (model.value(of: use.source) != nil) == isThere
        }
    }

    /// Responses to requests with an origin.
    private func origins(_ record: RunRecord, _ isMeant: (PeerMessage) -> Bool) -> Int {
        record.requests.compactMap { $0 }.count { request in
            guard request.request.header("Origin") != nil, let response = request.response else {
                return false
            }
            return isMeant(response)
        }
    }

    private func refusals(_ record: RunRecord, by limit: String) -> Int {
        record.requests.compactMap { $0 }
            .count { record.limitRefusal(of: $0)?.violated?.contains(limit) == true }
    }

    /// Calls of endpoints with a limit whose condition holds, or does not.
    private func conditionalLimits(_ record: RunRecord, apply: Bool) -> Int {
        record.attempts.count { attempt in
            guard let request = record.request(of: attempt) else { return false }
            let config = record.configs[attempt.call.generation]
            let applied = QuotaModel(request: request.request, config: config).uses.map(\.limit)
            return config.endpoints[attempt.call.endpoint].limitUses.contains {
                $0.when != nil && applied.contains($0.limit) == apply
            }
        }
    }

    /// Requests that were refused for their credential.
    private func refusals(_ record: RunRecord, _ isMeant: (AuthModel.Refusal) -> Bool) -> Int {
        record.requests.compactMap { $0 }.count { request in
            guard request.request.defect == nil, let response = request.response else {
                return false
            }
            return record.configs(for: request).contains { config in
                let model = RequestModel(request: request.request, config: config)
                guard let refusal = model.credentialRefusal else { return false }
                return refusal.status == response.status && isMeant(refusal)
            }
        }
    }

    /// Requests with a key that only the former configuration accepts.
    private func removedKeys(_ record: RunRecord) -> Int {
        record.requests.compactMap { $0 }.count { request in
            guard request.request.defect == nil, request.response?.status == 401 else {
                return false
            }
            let models = record.configs.map {
                RequestModel(request: request.request, config: $0)
            }
            guard models.count > 1, models[1].credentialRefusal?.reason == "untrusted" else {
                return false
            }
            return models[0].credentialRefusal == nil
                && models[0].endpoint?.isProtected == true
        }
    }

    private func responded(_ record: RunRecord, _ isMeant: (DrawnCall) -> Bool) -> Int {
        record.attempts.count { $0.read != nil && isMeant(record.call(of: $0)) }
    }
}

/// Why a host is not called.
package enum UnavailabilityReason: CaseIterable, Sendable {
    /// Its calls failed.
    case ejected
    /// It failed its health checks.
    case unhealthy
}
