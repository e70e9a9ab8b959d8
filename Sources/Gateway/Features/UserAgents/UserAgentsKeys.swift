package import YAMLReader

extension Config {
    /// `user_agents:`, which clients are refused by the `User-Agent` that they state.
    package struct UserAgents: Sendable {
        package let location: SourceLocation
        /// Regular expressions for the whole value.
        package var deny: [Located<String>] = []

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.UserAgents: PlainBlock {
    static let keys: [BlockKey<Config.UserAgents>] = [
        .list(
            "deny", \.deny, .filledList(of: .pattern), isRequired: true,
            "regular expressions; a client whose whole User-Agent matches one of them gets 403")
    ]
}

enum UserAgentsKeys {
    static let root: [BlockKey<Config>] = [
        .block(
            "user_agents", \.userAgents,
            "which clients get 403 because of the User-Agent that they state")
    ]
}
