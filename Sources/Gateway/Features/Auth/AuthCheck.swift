import YAMLReader

/// The rules for `auth`.
extension ConfigCheck {
    mutating func checkAuth() {
        for authenticator in config.authenticators { checkKeys(of: authenticator) }
        if let failures = config.authFailures {
            if case .rate(let rate) = failures.value, rate.bucket() == nil {
                problems.error(
                    at: failures.location, "'auth_failures' is a rate that cannot be counted")
            } else if config.authenticators.isEmpty, wasRead {
                problems.warning(
                    at: failures.location, "'auth_failures' has no effect without 'auth'")
            }
        }
        if let setting = config.defaults?.auth {
            if case .none = setting.value {
                problems.error(
                    at: setting.location,
                    "'auth' of 'defaults' must name authenticators; each public endpoint states"
                        + " 'auth: none' itself")
            }
            checkRule(setting)
        }
        checkTokens()
        checkFailureAddresses()
        for endpoint in config.endpoints {
            if let setting = endpoint.auth { checkRule(setting) }
            for condition in config.authRule(of: endpoint)?.require ?? [] {
                checkRequirement(condition.value, in: endpoint)
            }
            checkIsStated(by: endpoint)
            checkPublicCaching(of: endpoint)
            checkCredentialHeaders(of: endpoint)
        }
    }

    // MARK: Authenticators

    private mutating func checkKeys(of authenticator: Config.Authenticator) {
        if let certificate = authenticator.certificate { checkListeners(for: certificate) }
        guard let file = authenticator.keyFile else { return }
        if file.value.isEmpty {
            problems.warning(
                at: file.location,
                "'\(file.value.title)' has no entries, so authenticator '\(authenticator.name.value)'"
                    + " refuses every request")
        }
        var seen: [KeyHash: [String]] = [:]
        for entry in file.value.entries {
            guard let hash = entry.hash, let id = entry.id?.value else { continue }
            let others = seen[hash.value] ?? []
            let isTwice = authenticator.apiKey != nil ? !others.isEmpty : others.contains(id)
            if let other = others.first, isTwice {
                problems.error(at: hash.location, "'\(id)' has the same hash as '\(other)'")
            }
            seen[hash.value] = others + [id]
        }
    }

    private mutating func checkListeners(for certificate: Config.ClientCertificateRule) {
        guard wasRead, !config.verifiesClients else { return }
        problems.error(
            at: certificate.location,
            "'certificate' needs a listener with 'tls' and 'client_ca'; no client has a certificate"
                + " without it")
    }

    mutating func checkEveryAuthenticatorIsUsed() {
        let settings = config.endpoints.compactMap { config.authRule(of: $0) }
        let used = Set(settings.flatMap(\.any).map(\.value))
        for authenticator in config.authenticators where !used.contains(authenticator.name.value) {
            problems.warning(
                at: authenticator.name.location,
                "authenticator '\(authenticator.name.value)' is never used")
        }
    }

    /// Warns if `auth_failures` would count all clients as one: a gateway on a loopback address is
    /// behind a proxy, whose address every client has unless it is trusted.
    private mutating func checkFailureAddresses() {
        let addresses = config.listen.compactMap(\.address)
        guard let address = addresses.first, addresses.allSatisfy({ $0.value.isLocal }),
            config.clients?.trustedProxies.isEmpty != false, wasRead
        else { return }
        if case .off? = config.authFailures?.value { return }
        let limited = config.authenticators.first { $0.jwt != nil || $0.basic != nil }
        guard let limited else { return }
        problems.warning(
            at: address.location,
            "behind a proxy all clients have one address here, so that the failures of one client"
                + " lock out all others of authenticator '\(limited.name.value)' ('auth_failures'); list"
                + " the proxy in 'trusted_proxies' of 'clients'")
    }

    // MARK: Endpoints

    private mutating func checkRule(_ setting: Located<Config.AuthSetting>) {
        guard case .rule(let rule) = setting.value else { return }
        let known = config.authenticators.map(\.name.value)
        var seen: Set<String> = []
        if rule.any.isEmpty, wasRead {
            problems.error(at: rule.location, "'auth' must name at least one authenticator")
        }
        for name in rule.any {
            if name.value == "none" {
                problems.error(
                    at: name.location,
                    "'none' cannot be combined with authenticators; write 'auth: none'")
            } else if !known.contains(name.value) {
                guard !unread.contains("auth", of: config.location) else { continue }
                let near = Suggestion.hint(for: name.quoted, among: known)
                let list =
                    known.isEmpty
                    ? "; the top level has no 'auth'"
                    : near.isEmpty ? " (known: \(known.joined(separator: ", ")))" : near
                problems.error(
                    at: name.location, "there is no authenticator '\(name.quoted)'" + list)
            } else if !seen.insert(name.value).inserted {
                problems.error(at: name.location, "'auth' has '\(name.quoted)' twice")
            }
        }
    }

    /// Once an authenticator exists, an endpoint is public only with `auth: none`: a forgotten key must
    /// not publish an endpoint.
    private mutating func checkIsStated(by endpoint: Config.Endpoint) {
        guard config.auth(of: endpoint) == nil, !config.authenticators.isEmpty, hasAuth(endpoint)
        else { return }
        let names = config.authenticators.map(\.name.value).joined(with: "or")
        problems.error(
            at: endpoint.location,
            "\(endpoint.title) has no 'auth': write one of \(names), or 'auth: none' if it is"
                + " public")
    }

    /// A shared cache may store a response to a request with `Authorization` only if the response
    /// permits it (RFC 9111, section 3.5), and then sends it to every client.
    private mutating func checkPublicCaching(of endpoint: Config.Endpoint) {
        guard config.authRule(of: endpoint) != nil, let control = endpoint.cacheControl,
            let directive = control.sharedCachingDirective
        else { return }
        problems.warning(
            at: control.location,
            "\(endpoint.title): with '\(directive)' in 'cache_control', a shared cache sends responses"
                + " to clients without a credential")
    }

    /// Warns of credentials that pages of other origins cannot send, and of those in the log.
    private mutating func checkCredentialHeaders(of endpoint: Config.Endpoint) {
        guard let rule = config.authRule(of: endpoint), let cors = config.cors(of: endpoint) else {
            return
        }
        let listed = cors.headers.map { $0.value.lowercased() }
        for name in rule.any {
            guard let authenticator = authenticator(named: name.value) else { continue }
            // Pages cannot set `Cookie`: browsers add it to requests with credentials.
            if let cookie = authenticator.jwt?.place?.cookie {
                guard cors.credentials?.value != true else { continue }
                problems.warning(
                    at: cors.credentials?.location ?? cors.location,
                    "\(endpoint.title): pages cannot send the cookie '\(cookie.quoted)', which"
                        + " authenticator '\(name.value)' reads, without 'credentials: true' in 'cors'"
                )
                continue
            }
            guard let header = authenticator.credentialHeader else { continue }
            let isListed =
                listed.contains(header.lowercased())
                || listed.contains("*") && header.lowercased() != "authorization"
            guard !isListed else { continue }
            problems.warning(
                at: cors.headers.first?.location ?? cors.location,
                "\(endpoint.title): pages cannot send '\(authenticator.quotedCredentialHeader ?? header)',"
                    + " which authenticator '\(name.value)' reads; add it to 'headers' of 'cors'")
        }
    }

    // MARK: Look-ups

    func authenticator(named name: String) -> Config.Authenticator? {
        config.authenticators.first { $0.name.value == name }
    }

    func isPublic(_ endpoint: Config.Endpoint) -> Bool {
        if case .none? = config.auth(of: endpoint)?.value { true } else { false }
    }

    /// Whether the `auth` of an endpoint was read, if it is written.
    func hasAuth(_ endpoint: Config.Endpoint) -> Bool {
        !unread.contains("auth", of: endpoint.location)
            && config.defaults.map { !unread.contains("auth", of: $0.location) } != false
    }
}

extension Config.ListenAddress {
    /// Whether only this machine can connect.
    fileprivate var isLocal: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _): host.isLoopbackHost
        }
    }
}
