import YAMLReader

extension Config.Call {
    /// `hedge:`
    package struct Hedge: Sendable {
        let location: SourceLocation
        package var after: Located<Duration>?
        init(location: SourceLocation) { self.location = location }
    }
}

enum HedgeKeys {
    static let call: [BlockKey<Config.Call>] = [
        .block("hedge", \.hedge, "sends a second request if the response is late")
    ]
}

extension Config.Call.Hedge: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "after", \.after, .duration, isRequired: true,
            "time without a response after which the second request is sent")
    ]
}
