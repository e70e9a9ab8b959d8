/// The hosts that requests may name.
package struct HostsKeys: Sendable {
    /// Empty for all.
    package var names: [Located<String>] = []

    static let root: [BlockKey<Config>] = [
        .list(
            "hosts", \.hosts.names, .filledList(of: .hostPattern),
            "names, *.name and addresses that Host may have, regardless of case and port; else 421")
    ]
}
