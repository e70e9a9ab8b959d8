/// The rules for address lists and trusted proxies.
extension ConfigCheck {
    mutating func checkClients() {
        for endpoint in config.endpoints {
            if let clients = endpoint.clients {
                checkLists(of: clients, "'clients' of \(endpoint.title)")
            }
        }
        guard let clients = config.clients else { return }
        checkLists(of: clients, "'clients'")
        var seen: Set<Config.Clients.Proxy> = []
        for proxy in clients.trustedProxies {
            if !seen.insert(proxy.value).inserted {
                problems.warning(at: proxy.location, "'trusted_proxies' has this entry twice")
            }
            guard case .network(let network) = proxy.value, network.isEverything else { continue }
            problems.warning(
                at: proxy.location,
                "'\(proxy.quoted { _ in "\(network)" })' trusts every client, so that any client can claim any address"
            )
        }
        if let source = clients.addressFrom, clients.trustedProxies.isEmpty,
            isRead("trusted_proxies", of: clients.location)
        {
            problems.warning(
                at: source.location, "'address_from' has no effect without 'trusted_proxies'")
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
}

extension Config.AddressList {
    /// Whether it has all addresses of both versions.
    fileprivate var hasEverything: Bool {
        let all = networks.filter(\.isEverything)
        return Set(all).count > 1
    }
}
