import YAMLReader

/// The rule for parameters that nothing uses.
extension ConfigCheck {
    /// Warns of parameters that reach no backend and decide nothing.
    mutating func checkEveryParamIsUsed() {
        for endpoint in config.endpoints {
            let used = config.usedNames(in: endpoint)
            for name in endpoint.parameterNames where !used.params.contains(name) {
                let param = endpoint.params.first { $0.name.value == name }
                guard let location = param?.name.location ?? endpoint.route?.location else {
                    continue
                }
                switch param?.sentIn?.value ?? (endpoint.hasInPath(name) ? .path : .query) {
                case .query:
                    // To declare a parameter is the way to allow it there.
                    if endpoint.unknownQuery?.value == .refuse || used.queries.contains(name)
                        || config.passesQuery(name, in: endpoint)
                    {
                        continue
                    }
                case .header:
                    if used.headers.contains(name.lowercased())
                        || config.passesHeader(name, in: endpoint)
                    {
                        continue
                    }
                case .path: if endpoint.proxy.map({ $0.passesPath(name) }) == true { continue }
                }
                let users =
                    endpoint.proxy == nil
                    ? "no call, condition, rate limit or 'respond' has {\(name)}"
                    : "'proxy' does not pass it, and no header, condition or rate limit has {\(name)}"
                problems.warning(
                    at: location,
                    "parameter '\(param?.name.quoted ?? name)' of \(endpoint.title) is not used: "
                        + users)
            }
        }
    }
}

/// What the calls, conditions and limits of an endpoint use of a request.
private struct UsedNames {
    var params: Set<String> = []
    var queries: Set<String> = []
    /// In lower case.
    var headers: Set<String> = []

    mutating func insert(_ references: [Located<TemplateText.Reference>]) {
        for reference in references {
            switch reference.value.source {
            case .name(let name): params.insert(name)
            case .requestQuery(let name): queries.insert(name)
            case .requestHeader(let name): headers.insert(name.lowercased())
            case .call, .requestClient, .requestCaller, .requestBody: break
            }
        }
    }

    mutating func insert(testedBy condition: Config.Condition) {
        insert(condition.references)
        for test in condition.allTests { if let param = test.param { params.insert(param.value) } }
    }

    mutating func insert(forwardedBy forward: Config.Forward) {
        headers.formUnion(forward.headers.map { $0.value.lowercased() })
        if case .names(let names) = forward.query { queries.formUnion(names.map(\.value)) }
    }
}

extension Config {
    fileprivate func usedNames(in endpoint: Endpoint) -> UsedNames {
        var used = UsedNames()
        let headers = endpoint.proxy.map { self.headers(of: $0, in: endpoint) } ?? endpoint.headers
        used.insert(endpoint.references + headers.flatMap(\.value.locatedReferences))
        for call in endpoint.calls {
            if let condition = call.when { used.insert(testedBy: condition) }
            if let forward = forward(of: call, in: endpoint) { used.insert(forwardedBy: forward) }
        }
        if let when = endpoint.matching.when { used.insert(testedBy: when) }
        for requirement in authRule(of: endpoint)?.require ?? [] {
            used.insert(testedBy: requirement.value)
        }
        for use in rateLimits(of: endpoint) {
            if let condition = use.value.when { used.insert(testedBy: condition) }
            let limit = rateLimits.first { $0.name.value == use.value.limit?.value }
            used.insert((limit?.references ?? []) + [use.value.countedList].compactMap(\.self))
        }
        return used
    }

    /// Whether the backend of a `proxy` receives a query parameter of the client.
    fileprivate func passesQuery(_ name: String, in endpoint: Endpoint) -> Bool {
        guard endpoint.proxy != nil else { return false }
        guard case .names(let names)? = endpoint.forward?.query else { return true }
        return names.contains { $0.value == name }
    }

    /// Whether the backend of a `proxy` receives a header of the client.
    fileprivate func passesHeader(_ name: String, in endpoint: Endpoint) -> Bool {
        guard let proxy = endpoint.proxy else { return false }
        let name = name.lowercased()
        let backend = backends.first { $0.name.value == proxy.to?.value }
        let removed =
            headers(of: proxy, in: endpoint).map(\.name) + (backend?.headers ?? []).map(\.name)
            + proxy.dropHeaders
        guard !removed.contains(where: { $0.value.lowercased() == name }) else { return false }
        if let forward = endpoint.forward {
            return forward.headers.contains { $0.value.lowercased() == name }
        }
        return !name.contains("_")
            || (proxy.underscores?.value ?? PlanDefaults.proxyUnderscores) == .pass
    }
}

extension Config.Proxy {
    /// Whether the backend receives a parameter of the route.
    fileprivate func passesPath(_ name: String) -> Bool {
        path.map { $0.value.pieces.contains(.parameter(name)) } ?? true
    }
}

extension Config.Endpoint {
    fileprivate func hasInPath(_ name: String) -> Bool {
        route?.value.parameters.contains(name) == true
    }
}
