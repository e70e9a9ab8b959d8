extension HostsKeys {
    /// Warns of hosts that are listed twice.
    func check(_ problems: inout Problems) {
        var seen: Set<String> = []
        for host in names where !seen.insert(host.value.lowercased()).inserted {
            problems.warning(at: host.location, "'hosts' has '\(host.quoted)' twice")
        }
    }
}
