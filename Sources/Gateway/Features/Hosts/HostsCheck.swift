/// The rules for `hosts`.
extension ConfigCheck {
    /// Warns of hosts that are listed twice.
    mutating func checkHosts() {
        var seen: Set<String> = []
        for host in config.hosts.names where !seen.insert(host.value.lowercased()).inserted {
            problems.warning(at: host.location, "'hosts' has '\(host.quoted)' twice")
        }
    }
}
