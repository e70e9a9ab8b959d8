package import YAMLReader

extension Config {
    /// `metrics:`
    package struct Metrics: Sendable {
        package let location: SourceLocation
        package var perCall: Located<Bool>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}
