import Rehearsal

/// Only requests of authenticated callers reach a backend of a protected endpoint, with the name of the
/// caller and without the credential; the others get the reason, and the challenges of their endpoint.
struct AuthCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for attempt in record.attempts {
            guard let request = record.request(of: attempt) else { continue }
            check(attempt, request)
        }
        for request in record.requests.compactMap({ $0 }) {
            guard let response = request.response else { continue }
            check(request, response)
        }
    }

    // MARK: Calls

    private func check(_ attempt: AttemptRecord, _ request: RequestRecord) {
        let config = record.configs[attempt.call.generation]
        let endpoint = config.endpoints[attempt.call.endpoint]
        let outcome = AuthModel(request: request.request, config: config, endpoint: endpoint)
            .outcome
        let caller: String?
        switch outcome {
        case .isPublic: caller = nil
        case .accepted(let name, _): caller = name.rawValue
        case .refused(let refusal):
            violations.add(
                .auth, attempt.mark,
                "a call for a request that must get \(refusal.status) (\(refusal.reason))")
            return
        }
        if attempt.message["X-Caller"] != caller {
            violations.add(
                .auth, attempt.mark,
                "a call for the caller \(attempt.message["X-Caller"] ?? "none"), not \(caller ?? "none")"
            )
        }
        for name in ["X-Key", "X-Far", "Authorization"] where attempt.message[name] != nil {
            violations.add(.auth, attempt.mark, "a call with \(name)")
        }
    }

    // MARK: Responses

    /// During a reload, a request may be served under either configuration.
    private func check(_ request: RequestRecord, _ response: PeerMessage) {
        // Others have challenges of backends, or no endpoint.
        guard request.request.defect == nil, record.firstSent(for: request) == nil,
            response.isComplete == nil, request.request.endpoint != nil
        else { return }
        // A malformed target is refused before the credential is checked.
        let isInvalid = response.status == 400 && request.request.hasAmbiguousPath
        if record.excuses.add(.ambiguousPath, request, if: isInvalid) { return }
        let received = response.all("WWW-Authenticate")
        let expected = record.configs(for: request).map { config -> [String] in
            let model = RequestModel(request: request.request, config: config)
            guard case .refused(let statuses) = model.expectation,
                statuses.contains(response.status), let endpoint = model.endpoint,
                case .refused(let refusal) = AuthModel(
                    request: request.request, config: config, endpoint: endpoint
                ).outcome, refusal.status == response.status, model.refusesCredential
            else { return [] }
            return refusal.challenges
        }
        if !expected.contains(received) {
            violations.add(
                .auth, request.mark,
                "\(response.startLine) has the challenges \(received), expected \(expected)")
        }
    }
}
