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
