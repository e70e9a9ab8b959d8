import YAMLReader

/// The rules for `listen` and `admin`: addresses, socket files, redirects and protocols.
extension ConfigCheck {
    mutating func checkAddresses() {
        for listen in config.listen {
            checkSocketFile(of: listen, key: "listen")
            checkProtocols(of: listen)
            if let redirect = listen.redirect { checkRedirect(redirect, of: listen) }
            if let tls = listen.tls { checkTLS(tls, of: listen) }
        }
        checkDistinctAddresses()
        guard let admin = config.admin else { return }
        checkSocketFile(of: admin, key: "admin")
        warnOfWrittenToken(of: admin)
        warnOfOpenPages(of: admin)
        if let address = admin.address, isTaken(address.value, by: config.listen[...]) {
            problems.error(
                at: address.location, "'admin' has an address of 'listen'; it needs another one")
        }
    }

    private mutating func checkDistinctAddresses() {
        for (index, listen) in config.listen.enumerated() {
            guard let address = listen.address,
                isTaken(address.value, by: config.listen[..<index])
            else { continue }
            problems.error(at: address.location, "'listen' has this address twice")
        }
    }

    private func isTaken(
        _ address: Config.ListenAddress, by listeners: ArraySlice<Config.Listen>
    ) -> Bool {
        // The system chooses a different port for each.
        if case .tcp(_, port: 0) = address { return false }
        return listeners.contains { $0.address?.value == address }
    }

    /// `mode` and `group` need a unix socket, because only its file has permissions.
    private mutating func checkSocketFile(of block: some AddressBlock, key: String) {
        guard case .tcp? = block.address?.value else { return }
        for (name, location) in [("mode", block.mode?.location), ("group", block.group?.location)] {
            guard let location else { continue }
            problems.error(
                at: location,
                "'\(name)' of '\(key)' applies only to unix: addresses, and this is host:port")
        }
    }

    private mutating func checkProtocols(of listen: Config.Listen) {
        guard let protocols = listen.protocols else { return }
        var seen: Set<Config.ClientProtocol> = []
        for entry in protocols.value {
            if !seen.insert(entry.value).inserted {
                problems.error(
                    at: entry.location, "'protocols' has '\(entry.value.rawValue)' twice")
            }
        }
    }

    private mutating func checkRedirect(
        _ redirect: Located<Config.Redirect>, of listen: Config.Listen
    ) {
        let others = [
            ("tls", listen.tls?.location), ("protocols", listen.protocols?.location),
            ("mode", listen.mode?.location), ("group", listen.group?.location),
        ]
        for (name, location) in others {
            guard let location else { continue }
            problems.error(
                at: location,
                "'\(name)' has no effect with 'redirect', which allows only 'address' and 'name'"
            )
        }
        guard wasRead, !config.listen.contains(where: { $0.tls != nil }) else { return }
        problems.error(
            at: redirect.location, "'redirect' goes to https, but no listener has 'tls'")
    }

    /// `/metrics`, the configuration and a reload must not be public by mistake.
    private mutating func warnOfOpenPages(of admin: Config.Admin) {
        guard admin.token == nil, isRead("token", of: admin.location),
            let address = admin.address, case .tcp(let host, _) = address.value,
            !LocalName.isPrivate(host)
        else { return }
        problems.warning(
            at: address.location,
            "'admin' may be reached from other networks and has no 'token': set one, or 'token: none'"
                + " where a firewall protects the address")
    }

    private mutating func warnOfWrittenToken(of admin: Config.Admin) {
        guard let token = admin.token, token.isVerbatim, token.value != Config.Admin.noToken
        else { return }
        problems.warning(
            at: token.location,
            "'token' of 'admin' is written in the file; use ${file:/path} or ${NAME}, so that the"
                + " file has no secret")
    }
}
