/// The rules for `hosts`, also of endpoints.
extension ConfigCheck {
    mutating func checkHosts() {
        warnOfRepeatedHosts(config.hosts.names, "'hosts'")
        let known = config.hosts.names.map { HostSyntax.canonical($0.value) }
        for endpoint in config.endpoints {
            warnOfRepeatedHosts(endpoint.matching.hosts, "'hosts' of \(endpoint.title)")
            if !known.isEmpty { warnOfMisdirectedHosts(of: endpoint, known) }
        }
    }

    private mutating func warnOfRepeatedHosts(_ hosts: [Located<String>], _ title: String) {
        var seen: Set<String> = []
        for host in hosts where !seen.insert(HostSyntax.canonical(host.value)).inserted {
            problems.warning(at: host.location, "\(title) has '\(host.quoted)' twice")
        }
    }

    /// A host that the top-level list does not have.
    private mutating func warnOfMisdirectedHosts(
        of endpoint: Config.Endpoint, _ known: [String]
    ) {
        for host in endpoint.matching.hosts {
            let name = HostSyntax.canonical(host.value)
            guard !known.contains(where: { HostSyntax.overlap($0, name) }) else { continue }
            problems.warning(
                at: host.location,
                "the top-level 'hosts' does not have '\(host.quoted)', so its requests get 421")
        }
    }
}
