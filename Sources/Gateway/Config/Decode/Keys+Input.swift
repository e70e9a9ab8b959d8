import YAMLReader

/// The keys and values that restrict what requests may have, besides addresses and hosts.
extension Config.UserAgents: PlainBlock {
    static let keys: [BlockKey<Config.UserAgents>] = [
        .list(
            "deny", \.deny, .filledList(of: .pattern), isRequired: true,
            "regular expressions; a client whose whole User-Agent matches one of them gets 403")
    ]
}
