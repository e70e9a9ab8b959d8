import HTTP

/// The rules for address lists, hosts and fixed headers of responses.
extension ConfigCheck {
    mutating func checkAccess() {
        if let clients = config.clients { checkLists(of: clients, "'clients'") }
        checkHosts()
        checkDuplicates(in: config.responseHeaders.map(\.name), of: "response_headers")
        let common = fixedNames(config.responseHeaders)
        for endpoint in config.endpoints {
            if let clients = endpoint.clients {
                checkLists(of: clients, "'clients' of \(endpoint.title)")
            }
            checkDuplicates(in: endpoint.responseHeaders.map(\.name), of: "response_headers")
            checkRelayed(
                by: endpoint, fixed: common + fixedNames(endpoint.responseHeaders))
        }
    }

    private mutating func checkLists(of block: some AccessBlock, _ title: String) {
        if let allow = block.allow {
            // Else entries may be missing because they could not be read.
            if allow.value.isEmpty, wasRead {
                problems.error(
                    at: allow.location,
                    "'allow' of \(title) has no entry, so every client would get 403")
            }
            if allow.value.hasEverything {
                problems.warning(
                    at: allow.location, "'allow' of \(title) has every address, so it has no effect"
                )
            }
            checkSocket(allow, title)
        }
        if let deny = block.deny, deny.value.hasEverything {
            problems.warning(
                at: deny.location, "'deny' of \(title) has every address: every client gets 403")
        }
    }

    /// A peer on a unix socket has no address that a list of networks could have.
    private mutating func checkSocket(_ allow: Located<Config.AddressList>, _ title: String) {
        let isOnUnixSocketsOnly = config.listen.allSatisfy { listen in
            if case .unix? = listen.address?.value { true } else { false }
        }
        guard !config.listen.isEmpty, isOnUnixSocketsOnly, !allow.value.includesUnixSockets,
            config.clients?.trustedProxies.contains(where: { $0.value == .unix }) != true
        else { return }
        problems.warning(
            at: allow.location,
            "'allow' of \(title) refuses every client: peers on a unix socket have no address; add"
                + " 'unix', or trust the proxy ('trusted_proxies: [unix]')")
    }

    private mutating func checkHosts() {
        var seen: Set<String> = []
        for host in config.hosts where !seen.insert(host.value.lowercased()).inserted {
            problems.warning(at: host.location, "'hosts' has '\(host.quoted)' twice")
        }
    }

    private func fixedNames(_ headers: [Config.Header]) -> [String] {
        headers.map { $0.name.value.lowercased() }
    }

    /// A relayed header must not repeat a fixed one: with two values, clients may use either.
    private mutating func checkRelayed(by endpoint: Config.Endpoint, fixed: [String]) {
        let security = (config.securityHeaders?.value ?? PlanDefaults.securityHeaders).fields
        let hasCORS = config.cors(of: endpoint) != nil
        for name in endpoint.calls.flatMap(\.relayHeaders) {
            let key: String
            if fixed.contains(name.value.lowercased()) {
                key = "response_headers"
            } else if FieldName(name.value).map(security.contains) == true {
                key = "security_headers"
            } else if hasCORS, HeaderSyntax.isCORS(name.value) {
                key = "cors"
            } else {
                continue
            }
            problems.warning(
                at: name.location, "'\(name.quoted)' is not relayed: '\(key)' sets it")
        }
    }
}

extension Config.AddressList {
    /// Whether it has all addresses of both versions.
    fileprivate var hasEverything: Bool {
        let all = networks.filter(\.isEverything)
        return Set(all).count > 1
    }
}
