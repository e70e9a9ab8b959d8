import Basics

/// The rules for `rate_limits`.
extension ConfigCheck {
    mutating func checkRateLimits() {
        for limit in config.rateLimits { checkRateLimit(limit) }
        for endpoint in config.endpoints {
            let uses = config.rateLimits(of: endpoint)
            checkUses(uses, of: endpoint)
        }
    }

    /// A limit that no endpoint uses limits nothing.
    mutating func checkEveryRateLimitIsUsed() {
        let used = config.endpoints.flatMap { config.rateLimits(of: $0) }.compactMap(\.value.limit)
        for limit in config.rateLimits
        where !used.contains(where: { $0.value == limit.name.value }) {
            problems.warning(
                at: limit.name.location,
                "rate limit '\(limit.name.quoted)' has no effect: no endpoint uses it")
        }
    }

    // MARK: A limit

    /// What replicas grant beyond the rate grows with the interval.
    private static let syncMax = Duration.seconds(10)

    private mutating func checkRateLimit(_ limit: Config.RateLimit) {
        let name = "rate limit '\(limit.name.quoted)'"
        for (rate, burst) in limit.rates where rate.value.bucket(burst: burst) == nil {
            let spelled = rate.quoted(\.spelled)
            problems.error(
                at: rate.location,
                rate.value.bucket(burst: 1) == nil
                    ? "\(name): \(spelled) is above 100000 requests per second, the highest rate"
                    : "\(name): at \(spelled), a burst of \(burst) needs more than 366 days until it"
                        + " is available again")
        }
        if let plan = limit.plan, limit.plans.isEmpty {
            problems.error(at: plan.location, "\(name) has a 'plan' and no 'plans'")
        }
        checkKey(of: limit, name)
        checkSharing(of: limit, name)
        for reference in limit.references {
            switch reference.value.source {
            // Whether there is a token depends on the endpoint.
            case .call("token", _): break
            case .call:
                problems.error(
                    at: reference.location,
                    "\(name) uses {\(reference.value.text)}; limits are checked before the calls")
            case .requestHeader(let header) where HeaderSyntax.isForwarding(header):
                problems.warning(
                    at: reference.location,
                    "\(name) uses {\(reference.value.text)}; any client can send this header;"
                        + " 'address' uses it from trusted proxies only")
            default: break
            }
        }
    }

    private mutating func checkSharing(of limit: Config.RateLimit, _ name: String) {
        if let sync = limit.sync, case .interval(let interval) = sync.value,
            interval > Self.syncMax
        {
            problems.error(at: sync.location, "'sync' of \(name) must be at most 10s")
        }
        guard limit.isShared else {
            for (key, location) in [
                ("sync", limit.sync?.location), ("when_down", limit.whenDown?.location),
                ("replicas", limit.replicas?.location),
            ] {
                guard let location else { continue }
                problems.warning(
                    at: location, "'\(key)' of \(name) has no effect without 'share: store'")
            }
            return
        }
        if let share = limit.share, config.store == nil,
            !unread.contains("store", of: config.location)
        {
            problems.error(
                at: share.location, "\(name) has 'share: store', which needs the key 'store'")
        }
        for (rate, burst) in limit.rates
        where rate.value.bucket(burst: burst) != nil
            && limit.localBucket(of: rate.value, burst: burst) == nil
        {
            problems.error(
                at: limit.replicas?.location ?? rate.location,
                "\(name): the share of one of \(limit.replicaCount) replicas needs more than 366"
                    + " days until its burst is available again")
        }
    }

    private mutating func checkKey(of limit: Config.RateLimit, _ name: String) {
        var seen: [String] = []
        for part in limit.key {
            if seen.contains(part.value.spelled) {
                problems.warning(
                    at: part.location, "'key' of \(name) has \(part.value.spelled) twice")
            }
            seen.append(part.value.spelled)
        }
    }

    // MARK: The limits of an endpoint

    private mutating func checkUses(
        _ uses: [Located<Config.LimitUse>], of endpoint: Config.Endpoint
    ) {
        var seen: [String] = []
        for use in uses {
            guard let name = use.value.limit else { continue }
            guard let limit = config.rateLimits.first(where: { $0.name.value == name.value }) else {
                guard !unread.contains("rate_limits", of: config.location) else { continue }
                let names = config.rateLimits.map(\.name.value)
                problems.error(
                    at: name.location,
                    "there is no rate limit '\(name.quoted)'"
                        + (names.isEmpty ? "; define it in 'rate_limits' of the file" : "")
                        + Suggestion.hint(for: name.quoted, among: names))
                continue
            }
            if seen.contains(name.value) {
                problems.error(
                    at: name.location,
                    "'rate_limits' has '\(name.quoted)' twice; 'cost' counts a request several times"
                )
            }
            seen.append(name.value)
            checkCost(use.value, limit)
            checkWhen(of: use.value, name, in: endpoint)
            checkCountedList(of: use.value, name, in: endpoint)
            checkReferences(of: limit, usedAt: name, in: endpoint)
            checkCaller(of: limit, usedAt: name, in: endpoint)
        }
        if uses.count > Self.usesMax, let last = uses.last {
            problems.error(
                at: last.location, "'rate_limits' has more than \(Self.usesMax) entries")
        }
    }

    /// Each is charged for every request, and refunded if a later one refuses it.
    private static let usesMax = 8

    private mutating func checkCost(_ use: Config.LimitUse, _ limit: Config.RateLimit) {
        guard let located = use.cost, case .fixed(let cost) = located.value else { return }
        for (rate, burst) in limit.rates where cost > burst {
            problems.error(
                at: located.location,
                "cost \(cost) is above the burst \(burst) of rate limit"
                    + " '\(limit.name.quoted)' at \(rate.quoted(\.spelled)), so every request would"
                    + " be refused")
        }
    }

    /// A limit is charged before any call is made.
    private mutating func checkWhen(
        of use: Config.LimitUse, _ name: Located<String>, in endpoint: Config.Endpoint
    ) {
        guard let condition = use.when else { return }
        let title = "'when' of rate limit '\(name.quoted)' of \(endpoint.title)"
        checkCondition(condition, of: title, in: endpoint)
        checkUsesNoCall(condition, title, in: endpoint)
    }

    /// The list that `cost` counts must be part of the request.
    private mutating func checkCountedList(
        of use: Config.LimitUse, _ name: Located<String>, in endpoint: Config.Endpoint
    ) {
        guard let list = use.countedList else { return }
        checkReference(list, of: "'cost' of rate limit '\(name.quoted)'", in: endpoint)
    }

    /// Without authentication no request has a caller.
    private mutating func checkCaller(
        of limit: Config.RateLimit, usedAt use: Located<String>, in endpoint: Config.Endpoint
    ) {
        guard limit.usesCaller, config.authRule(of: endpoint) == nil else { return }
        problems.warning(
            at: use.location,
            "rate limit '\(use.quoted)' uses the caller, but \(endpoint.title) has no 'auth': its"
                + " requests have neither a caller nor a plan")
    }

    /// A name must be a parameter of every endpoint that uses the limit; a claim needs tokens.
    private mutating func checkReferences(
        of limit: Config.RateLimit, usedAt use: Located<String>, in endpoint: Config.Endpoint
    ) {
        checkClaims(of: limit, usedAt: use, in: endpoint)
        checkBody(of: limit, usedAt: use, in: endpoint)
        guard hasAllParams(of: endpoint) else { return }
        for reference in limit.references {
            guard case .name(let name) = reference.value.source,
                !endpoint.parameterNames.contains(name)
            else { continue }
            problems.error(
                at: use.location,
                "rate limit '\(use.quoted)' uses {\(reference.value.text)}; \(endpoint.title) has no"
                    + " parameter '\(name)'")
        }
    }

    private mutating func checkBody(
        of limit: Config.RateLimit, usedAt use: Located<String>, in endpoint: Config.Endpoint
    ) {
        guard let method = endpoint.route?.value.method, method == .get || method == .head else {
            return
        }
        for reference in limit.references {
            guard case .requestBody = reference.value.source else { continue }
            problems.warning(
                at: use.location,
                "rate limit '\(use.quoted)' uses {\(reference.value.text)}; a \(method.rawValue)"
                    + " request has no body, so the client's address is used")
        }
    }

    private mutating func checkClaims(
        of limit: Config.RateLimit, usedAt use: Located<String>, in endpoint: Config.Endpoint
    ) {
        guard hasAuth(endpoint), config.tokenAuthenticators(of: endpoint).isEmpty else { return }
        for reference in limit.references {
            guard case .call("token", _) = reference.value.source else { continue }
            problems.error(
                at: use.location,
                "rate limit '\(use.quoted)' uses {\(reference.value.text)}; \(endpoint.title) has no"
                    + " 'auth' with 'jwt', so there is no token")
        }
    }
}

extension Config.RateLimit {
    /// Whether its key or its plan comes from the authenticated caller.
    fileprivate var usesCaller: Bool {
        if !plans.isEmpty, plan == nil { return true }
        if key.contains(where: { if case .caller = $0.value { true } else { false } }) {
            return true
        }
        return references.contains { $0.value.source == .requestCaller }
    }
}

extension Config.RateLimit.KeyPart {
    /// As a configuration spells it.
    package var spelled: String {
        switch self {
        case .address: "address"
        case .caller: "caller"
        case .reference(let template): template.template.text
        }
    }
}
