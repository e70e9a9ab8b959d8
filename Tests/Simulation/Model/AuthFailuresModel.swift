import Rehearsal

/// The model of `auth_failures`: which requests it counts, and which it may refuse. It is written from
/// the documentation, without the gateway's code.
struct AuthFailuresModel {
    let request: ScriptedRequest
    let config: DrawnConfig

    private var auth: AuthModel? {
        guard request.defect == nil || request.defect == .badChunk,
            let endpoint = RequestModel(request: request, config: config).reachedEndpoint
        else { return nil }
        return AuthModel(request: request, config: config, endpoint: endpoint)
    }

    /// How often it counts: once for each wrong credential, also beside a valid one.
    var count: Int { auth?.wrongCredentials ?? 0 }

    /// Whether its credential is refused for a reason that counts.
    private var isRefusedForFailure: Bool {
        guard count > 0, case .refused(let refusal)? = auth?.identity else { return false }
        return Self.isCounted(refusal.reason)
    }

    /// Whether it depends on a password, which is not checked beyond the limit.
    var needsPassword: Bool {
        guard let auth, auth.hasPassword, !auth.callerDependsOnLimit else { return false }
        if case .accepted(_, let kind) = auth.identity { return kind == .basic }
        return true
    }

    /// Whether the limit may refuse it.
    var mayBeRefused: Bool {
        config.authFailureRate != nil && (isRefusedForFailure || needsPassword)
    }

    /// By which it counts.
    var key: String { QuotaModel(request: request, config: config).address }

    static func isCounted(_ reason: String) -> Bool { ["malformed", "untrusted"].contains(reason) }
}
