import Rehearsal

/// The model of authentication: who sent a request, or why it is refused. It is written from the
/// documentation and compares keys as texts, without the gateway's code.
struct AuthModel {
    let request: ScriptedRequest
    let config: DrawnConfig
    let endpoint: DrawnEndpoint
    /// False beyond `auth_failures`: a password is then ignored.
    var checksPasswords = true

    enum Outcome: Equatable {
        case isPublic
        case accepted(DrawnCaller, by: DrawnAuthenticator.Kind)
        case refused(Refusal)
    }

    struct Refusal: Equatable {
        let status: Int
        let reason: String
        /// The lines of `WWW-Authenticate`.
        let challenges: [String]
    }

    /// Whether the caller may use the endpoint.
    var outcome: Outcome {
        guard case .accepted(let caller, let kind) = identity, let auth = endpoint.auth else {
            return identity
        }
        guard auth.scopes.allSatisfy(caller.scopes.contains) else {
            return .refused(lackingScopes(auth.scopes, kind))
        }
        let conditions = RequestConditionModel(
            request: request, config: config, endpoint: endpoint, caller: caller)
        guard auth.requirements.allSatisfy(conditions.holds) else {
            return .refused(Refusal(status: 403, reason: "claims", challenges: []))
        }
        return identity
    }

    /// Who sent the request, whatever the endpoint demands of its callers.
    var identity: Outcome {
        guard let auth = endpoint.auth, !auth.kinds.isEmpty else { return .isPublic }
        if isAmbiguous(auth.kinds) { return refused(400, "malformed") }
        var reasons: [String] = []
        for kind in auth.kinds {
            switch answer(of: kind) {
            case .noCredential: continue
            case .refuses(let reason): reasons.append(reason)
            case .accepts(let caller): return .accepted(caller, by: kind)
            }
        }
        // The reason that says most about the credential.
        let worst = ["expired", "untrusted", "malformed"].first(where: reasons.contains)
        return refused(401, worst ?? "missing")
    }

    /// How many credentials are malformed or unknown to every authenticator that reads them, of those
    /// that are tried.
    var wrongCredentials: Int {
        guard let auth = endpoint.auth, !auth.kinds.isEmpty else { return 0 }
        if isAmbiguous(auth.kinds) { return 1 }
        var isWrong: [String: Bool] = [:]
        for kind in auth.kinds {
            let answer = answer(of: kind)
            guard answer != .noCredential else { continue }
            // A certificate cannot be guessed.
            if kind != .certificate {
                let refuses = answer == .refuses("malformed") || answer == .refuses("untrusted")
                isWrong[header(of: kind)] = refuses && isWrong[header(of: kind)] != false
            }
            if case .accepts = answer { break }
        }
        return isWrong.values.count { $0 }
    }

    /// Whether the request has a user name and a password, which may be malformed.
    var hasPassword: Bool {
        guard let auth = endpoint.auth, auth.kinds.contains(.basic), !isAmbiguous(auth.kinds) else {
            return false
        }
        return answer(of: .basic) != .noCredential
    }

    /// Whether the limit on failures decides who the caller is: beyond it the password is not checked, and
    /// a later authenticator accepts another credential.
    var callerDependsOnLimit: Bool {
        guard config.authFailureRate != nil, case .accepted(_, .basic) = identity else {
            return false
        }
        var unchecked = self
        unchecked.checksPasswords = false
        if case .accepted = unchecked.identity { return true }
        return false
    }

    private enum Answer: Equatable {
        case noCredential
        case refuses(String)
        case accepts(DrawnCaller)
    }

    private func values(_ name: String) -> [String] {
        request.headers.filter { $0.name == name }.map(\.value)
    }

    private func header(of kind: DrawnAuthenticator.Kind) -> String {
        DrawnAuthenticator(kind: kind, callers: []).credentialHeader ?? ""
    }

    /// Two lines of one header, or keys in two headers.
    private func isAmbiguous(_ kinds: [DrawnAuthenticator.Kind]) -> Bool {
        if kinds.contains(where: { values(header(of: $0)).count > 1 }) { return true }
        let keyHeaders = Set(kinds.filter { $0 != .basic && $0 != .certificate }.map(header))
        return keyHeaders.count { !values($0).isEmpty } > 1
    }

    private func answer(of kind: DrawnAuthenticator.Kind) -> Answer {
        if kind == .certificate {
            guard let identity = request.identity else { return .noCredential }
            return identity == DrawnCaller.partner.rawValue
                ? .accepts(.partner) : .refuses("untrusted")
        }
        let callers =
            config.auth?.authenticators.first { $0.kind == kind }?.callers ?? []
        guard let value = values(header(of: kind)).first else { return .noCredential }
        if kind == .basic, !checksPasswords { return .noCredential }
        guard kind == .basic else {
            if value.isEmpty { return .refuses("malformed") }
            return answer(for: callers.first { $0.key == value })
        }
        guard value.lowercased().hasPrefix("basic") else { return .noCredential }
        if value == "Basic" || value == "Basic !" { return .refuses("malformed") }
        return answer(for: callers.first { $0.basic == value })
    }

    private func answer(for caller: DrawnCaller?) -> Answer {
        guard let caller else { return .refuses("untrusted") }
        return caller == .old ? .refuses("expired") : .accepts(caller)
    }

    // MARK: Challenges

    private func refused(_ status: Int, _ reason: String) -> Outcome {
        let kinds = endpoint.auth?.kinds ?? []
        var challenges: [(scheme: String, text: String)] = []
        for kind in kinds {
            let challenge = Self.challenge(of: kind)
            if !challenges.contains(where: { $0.scheme == challenge.scheme }) {
                challenges.append(challenge)
            }
        }
        return .refused(
            Refusal(status: status, reason: reason, challenges: challenges.map(\.text)))
    }

    /// One for each scheme: that of its first authenticator.
    private static func challenge(
        of kind: DrawnAuthenticator.Kind
    ) -> (scheme: String, text: String) {
        switch kind {
        case .basic: ("Basic", "Basic realm=\"basic\", charset=\"UTF-8\"")
        case .certificate: ("Certificate", "Certificate realm=\"certificate\"")
        case .keys, .more, .far: ("ApiKey", "ApiKey realm=\"\(kind.rawValue)\"")
        }
    }

    private func lackingScopes(
        _ scopes: [String], _ kind: DrawnAuthenticator.Kind
    ) -> Refusal {
        let challenge =
            "ApiKey realm=\"\(kind.rawValue)\", error=\"insufficient_scope\","
            + " scope=\"\(scopes.joined(separator: " "))\""
        return Refusal(
            status: 403, reason: "scope",
            challenges: [.basic, .certificate].contains(kind) ? [] : [challenge])
    }
}
