package import YAMLReader

extension Config {
    /// `parts:` of an endpoint.
    package struct Parts: Sendable {
        package let location: SourceLocation
        /// In the order of preference.
        package var formats: [Located<PartFormat>] = []
        package var after: Located<After>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// What must have succeeded before the head of the response is sent.
        package enum After: String, Sendable, CaseIterable { case required }
    }
}

/// The format of a response that is sent part by part.
package enum PartFormat: String, Sendable, CaseIterable {
    /// One JSON text in each line.
    case ndjson
    /// Server-sent events (HTML standard, section 9.2).
    case sse

    package var mediaType: String {
        switch self {
        case .ndjson: "application/x-ndjson"
        case .sse: "text/event-stream"
        }
    }
}

extension Config.Parts: PlainBlock {
    static let keys: [BlockKey<Config.Parts>] = [
        .list(
            "as", \.formats, .filledList(of: .choice), isRequired: true,
            "formats that clients can ask for with Accept, in the order of preference"),
        .value(
            "after", \.after, .choice, default: .text("required"),
            "what must have succeeded before the first part is sent: the required calls"),
    ]
}

enum PartsKeys {
    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .block(
            "parts", \.parts,
            "sends each part when its calls have settled, if the client asks for it")
    ]
}
