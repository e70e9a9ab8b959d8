import Rehearsal
import SimReactor

/// A behaviour of the gateway that the runs must reach.
struct Behaviour: Sendable {
    let name: String
    /// How often it took place in a run.
    let count: @Sendable (BehaviourEvidence) -> Int

    static let all = ofCalls + ofRequests + ofStreams + ofListeners + ofHTTP2

    static func attempts(
        _ name: String, _ isMeant: @escaping @Sendable (AttemptRecord, RunRecord) -> Bool
    ) -> Behaviour {
        Behaviour(name: name) { run in run.record.attempts.count { isMeant($0, run.record) } }
    }

    /// Of calls that received a response.
    private static func calls(
        _ name: String, _ isMeant: @escaping @Sendable (DrawnCall) -> Bool
    ) -> Behaviour {
        attempts(name) { $0.read != nil && isMeant($1.call(of: $0)) }
    }

    static func requests(
        _ name: String, _ isMeant: @escaping @Sendable (RequestRecord, RunRecord) -> Bool
    ) -> Behaviour {
        Behaviour(name: name) { run in
            run.record.requests.compactMap { $0 }.count { isMeant($0, run.record) }
        }
    }

    // MARK: Calls

    private static let ofCalls: [Behaviour] = [
        calls("patchCalls") { $0.method == "PATCH" }, calls("headCalls") { $0.method == "HEAD" },
        calls("callsAfterOthers") { !$0.after.isEmpty },
        calls("callsByResponse") { $0.when?.calls.isEmpty == false },
        calls("callsByElement") { $0.when?.testsElements == true },
        requests("callsNotMadeByResponse") { $0.isWithoutCallByResponse($1) },
        // Of the endpoint, or of the call itself.
        attempts("sharedHeaders") { attempt, _ in
            attempt.message["X-Shared"]?.hasPrefix("c") == false
        },
        attempts("replacedHeaders") { attempt, _ in
            attempt.message["X-Shared"]?.hasPrefix("c") == true
        },
        attempts("absentOptionalValues") { $0.hasOptional($1, isThere: false) },
        attempts("presentOptionalValues") { $0.hasOptional($1, isThere: true) },
        attempts("forwardedQueries") { attempt, record in
            record.endpoint(of: attempt).forwardsAllQuery
                && attempt.message.query.contains { ["tag", "debug"].contains($0.name) }
        },
        attempts("secureCalls") { attempt, _ in attempt.session != nil && attempt.read != nil },
        Behaviour(name: "secureChecks") { run in
            run.record.probes.count { $0.session != nil && $0.read != nil }
        },
        // To a host with a wrong certificate.
        attempts("unverifiedCalls") { attempt, _ in
            attempt.session.map { !$0.certificateNames.contains($0.serverName) } ?? false
        },
        attempts("otherServerNames") { attempt, _ in
            attempt.session?.serverName == DrawnTLS.alias
        },
        attempts("authenticatedCalls") { attempt, _ in attempt.message["X-Caller"] != nil },
        attempts("metRequirements") {
            $1.endpoint(of: $0).auth?.requirements.isEmpty == false
        },
        attempts("metConditions") { $1.endpoint(of: $0).route.when != nil },
        attempts("unmetConditions") { $0.isWithoutConditions($1) },
        attempts("suffixes") { $1.endpoint(of: $0).route.ending == .suffix },
        attempts("literalSegments") { $1.endpoint(of: $0).route.ending == .literal },
        attempts("severalLimits") { $1.endpoint(of: $0).limitUses.count > 1 },
        attempts("limitsThatApply") { $0.hasConditionalLimit($1, applies: true) },
        attempts("limitsThatDoNot") { $0.hasConditionalLimit($1, applies: false) },
        // A host was ejected for longer than the first time.
        Behaviour(name: "grownEjections") { run in
            run.hosts.grown
        },
    ]

    // MARK: Requests

    private static let ofRequests: [Behaviour] = [
        requests("unixSockets") { $1.configs[0].listensOnUnixSocket && $0.response != nil },
        requests("allowedOrigins") { request, _ in
            request.hasOrigin { $0.status != 204 && $0["Access-Control-Allow-Origin"] != nil }
        },
        requests("otherOrigins") { request, _ in
            request.hasOrigin { $0["Access-Control-Allow-Origin"] == nil }
        },
        requests("allowedPreflights") { request, _ in
            request.hasOrigin { $0.status == 204 && $0["Access-Control-Allow-Methods"] != nil }
        },
        requests("otherHosts") { request, record in
            request.response?.status == 404 && request.request.endpoint != nil
                && record.configs[0].endpoint(of: request.request) == nil
                && !request.isForOtherListener(record)
        },
        requests("otherListeners") { request, record in
            request.response?.status == 404 && request.isForOtherListener(record)
        },
        // Sent twice, so that no condition on it holds.
        requests("ambiguousConditions") { request, record in
            request.response != nil
                && request.request.headers.count { $0.name == RouteDraw.header } > 1
        },
        // The path parameter would be empty.
        requests("suffixesAlone") { request, record in
            request.response != nil && request.request.id == DrawnRoute.suffix
        },
        requests("responsesInParts") { request, _ in request.response?.hasParts == true },
        requests("ambiguousCredentials") { $0.isRefused($1) { $0.status == 400 } },
        requests("refusedCredentials") {
            $0.isRefused($1) { $0.status == 401 && $0.reason != "missing" }
        },
        requests("missingScopes") { $0.isRefused($1) { $0.reason == "scope" } },
        requests("unmetRequirements") { $0.isRefused($1) { $0.reason == "claims" } },
        requests("limitedFailures") { $1.limitRefusal(of: $0) == .authFailures },
        // Valid before a reload, and refused after it.
        requests("removedKeys") { $0.hasRemovedKey($1) },
        // By a key that is known early, or late; without a key.
        requests("quotaOfClients") { $0.isRefused($1, by: "per_client") },
        requests("quotaOfParameters") { $0.isRefused($1, by: "per_language") },
        requests("quotaOfAll") { $0.isRefused($1, by: "together") },
    ]
}

/// What behaviours are counted in.
struct BehaviourEvidence {
    let record: RunRecord
    let streams: [StreamModel]
    let hosts: UnavailableHosts

    init(_ record: RunRecord) {
        self.record = record
        streams = StreamModel.all(in: record)
        hosts = UnavailableHosts(of: record)
    }
}

extension RunRecord {
    func endpoint(of attempt: AttemptRecord) -> DrawnEndpoint {
        configs[attempt.call.generation].endpoints[attempt.call.endpoint]
    }
}

extension AttemptRecord {
    /// Whether its call has an optional value that the request has, or has not.
    fileprivate func hasOptional(_ record: RunRecord, isThere: Bool) -> Bool {
        guard let request = record.request(of: self) else { return false }
        let model = RequestModel(
            request: request.request, config: record.configs[call.generation])
        return record.call(of: self).uses.contains { use in
            use.isOptional && (model.value(of: use.source) != nil) == isThere
        }
    }

    /// Whether the conditions of the other endpoints of its route do not hold.
    fileprivate func isWithoutConditions(_ record: RunRecord) -> Bool {
        let endpoint = record.endpoint(of: self)
        return endpoint.route.when == nil
            && record.configs[call.generation].endpoints(beside: endpoint).count > 1
    }

    /// Whether its endpoint has a limit whose condition holds, or does not.
    fileprivate func hasConditionalLimit(_ record: RunRecord, applies: Bool) -> Bool {
        guard let request = record.request(of: self) else { return false }
        let config = record.configs[call.generation]
        let applied = QuotaModel(request: request.request, config: config).uses.map(\.limit)
        return record.endpoint(of: self).limitUses.contains {
            $0.when != nil && applied.contains($0.limit) == applies
        }
    }
}

extension RequestRecord {
    /// Whether an endpoint of another listener would handle it.
    fileprivate func isForOtherListener(_ record: RunRecord) -> Bool {
        let config = record.configs[0]
        guard config.endpoint(of: request) == nil else { return false }
        let listeners = [nil] + config.listeners.indices.map(Optional.some)
        return listeners.contains { listener in
            var other = request
            other.listener = listener
            return config.endpoint(of: other) != nil
        }
    }

    /// A complete response without a call whose condition uses a response.
    fileprivate func isWithoutCallByResponse(_ record: RunRecord) -> Bool {
        guard response?.isComplete == true, record.configs.count == 1,
            let endpoint = record.configs[0].endpoint(of: request)
        else { return false }
        let made = record.attempts(of: self).map(\.call.call)
        return endpoint.calls.contains { call in
            call.when?.calls.isEmpty == false && !made.contains(call.index)
        }
    }

    /// The response to a request with an origin.
    fileprivate func hasOrigin(_ isMeant: (PeerMessage) -> Bool) -> Bool {
        request.header("Origin") != nil && response.map(isMeant) ?? false
    }

    fileprivate func isRefused(_ record: RunRecord, by limit: String) -> Bool {
        record.limitRefusal(of: self)?.violated?.contains(limit) == true
    }

    /// Refused for its credential.
    fileprivate func isRefused(
        _ record: RunRecord, _ isMeant: (AuthModel.Refusal) -> Bool
    ) -> Bool {
        guard request.defect == nil, let response else { return false }
        return record.configs(for: self).contains { config in
            let model = RequestModel(request: request, config: config)
            guard let refusal = model.credentialRefusal else { return false }
            return refusal.status == response.status && isMeant(refusal)
        }
    }

    /// Has a key that only the former configuration accepts.
    fileprivate func hasRemovedKey(_ record: RunRecord) -> Bool {
        guard request.defect == nil, response?.status == 401 else { return false }
        let models = record.configs.map { RequestModel(request: request, config: $0) }
        return models.count > 1 && models[1].credentialRefusal?.reason == "untrusted"
            && models[0].credentialRefusal == nil && models[0].endpoint?.isProtected == true
    }
}
