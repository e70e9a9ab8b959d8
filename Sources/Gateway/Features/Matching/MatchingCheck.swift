import YAMLReader

/// The rules for routes, and for `hosts`, `listener` and `when` of endpoints.
extension ConfigCheck {
    /// A request must have one endpoint: of two for the same route, host and listener, the first one has
    /// a condition, or the second one is never reached.
    mutating func checkRoutes() {
        var seen: [String: [(endpoint: Config.Endpoint, group: EndpointGroup)]] = [:]
        for endpoint in config.endpoints where isRead("hosts", "listener", of: endpoint.location) {
            guard let route = endpoint.route, let group = EndpointGroup(endpoint) else { continue }
            for (first, other) in seen[group.shape, default: []] {
                guard let firstRoute = first.route, other.listener == group.listener,
                    let host = group.commonHost(with: other)
                else { continue }
                if other == group, first.hasCondition(in: self) { continue }
                let names =
                    firstRoute.value.name == route.value.name
                    ? "" : " (names make no difference)"
                let place = host.isEmpty ? "" : " for \(host)"
                problems.error(
                    at: route.location,
                    "route \(route.quoted(\.name)) is the same as the route at"
                        + " \(firstRoute.location)\(place)\(names)")
                break
            }
            seen[group.shape, default: []].append((endpoint, group))
        }
    }

    mutating func checkMatching() {
        checkListenerNames()
        for (index, endpoint) in config.endpoints.enumerated() {
            checkListener(of: endpoint)
            checkWhen(of: endpoint, at: index)
        }
    }

    private mutating func checkListenerNames() {
        var seen: Set<String> = []
        for name in config.listen.compactMap(\.name) where !seen.insert(name.value).inserted {
            problems.error(at: name.location, "'listen' has the name '\(name.quoted)' twice")
        }
    }

    private mutating func checkListener(of endpoint: Config.Endpoint) {
        guard let name = endpoint.matching.listener,
            !unread.contains("listen", of: config.location),
            config.listen.allSatisfy({ isRead("name", of: $0.location) })
        else { return }
        guard let listen = config.listen.first(where: { $0.name?.value == name.value }) else {
            let names = config.listen.compactMap { $0.name?.value }
            problems.error(
                at: name.location,
                "no entry of 'listen' has the name '\(name.quoted)'"
                    + Suggestion.hint(for: name.quoted, among: names))
            return
        }
        if config.listen.count(where: { $0.address?.value == listen.address?.value }) > 1 {
            problems.error(
                at: name.location,
                "listener '\(name.quoted)' needs a port of its own; with port 0 it has the address of"
                    + " another entry of 'listen'")
        }
        guard listen.redirect != nil else { return }
        problems.error(
            at: name.location,
            "listener '\(name.quoted)' has 'redirect', so it serves no endpoint")
    }

    /// The condition is evaluated to find the endpoint: before the caller is known, and before the body is
    /// read.
    private mutating func checkWhen(of endpoint: Config.Endpoint, at index: Int) {
        guard let condition = endpoint.matching.when else { return }
        let title = "'when' of \(endpoint.title)"
        checkCondition(condition, of: title, in: endpoint)
        checkUsesNoCall(condition, title, in: endpoint)
        for reference in condition.references {
            let lack: String? =
                switch reference.value.source {
                case .requestBody: "the body is read"
                case .requestCaller where config.authRule(of: endpoint) != nil:
                    "the caller is known"
                case .call("token", _) where !config.tokenAuthenticators(of: endpoint).isEmpty:
                    "the token is checked"
                default: nil
                }
            guard let lack else { continue }
            problems.error(
                at: reference.location,
                "\(title) cannot use {\(reference.value.text)}: it is checked before \(lack)")
        }
        let others = groups.members(like: endpoint).filter { $0 > index }
        guard wasRead, endpoint.route != nil,
            others.allSatisfy({ config.endpoints[$0].hasCondition(in: self) })
        else { return }
        let places =
            endpoint.matching.hosts.isEmpty && endpoint.matching.listener == nil
            ? "" : ", with the same 'hosts' and 'listener'"
        problems.error(
            at: condition.location,
            "\(endpoint.title) has 'when', so a later endpoint with the same route needs to have"
                + " none\(places); it gets the other requests")
    }
}

extension Config.Endpoint {
    /// Whether it has a `when`, also one that could not be read.
    fileprivate func hasCondition(in check: ConfigCheck) -> Bool {
        matching.when != nil || !check.isRead("when", of: location)
    }
}

extension EndpointGroup {
    /// A host of both, or an empty text if both are for all hosts; nil without one.
    fileprivate func commonHost(with other: EndpointGroup) -> String? {
        if hosts.isEmpty, other.hosts.isEmpty { return "" }
        return hosts.intersection(other.hosts).min()
    }
}
