import YAMLReader

/// The headers of an endpoint in which KrakenD sends the identity of the caller: claims of its token,
/// or the role of its key.
///
/// A client never sets them, also where the protection could not be converted: backends rely on them.
struct KrakenDIdentity {
    /// The names, with the text of the configuration that sets them.
    private(set) var headers: [(name: String, source: String, location: SourceLocation)] = []

    init(_ endpoint: DocumentNode, service: DocumentNode) {
        for node in [endpoint, service] + (endpoint["backend"]?.elements ?? []) {
            for member in node["extra_config"]?.members ?? [] { add(member.node) }
        }
    }

    private mutating func add(_ settings: DocumentNode) {
        for pair in settings["propagate_claims"]?.elements ?? [] where pair.texts.count == 2 {
            headers.append((pair.texts[1], "the claim '\(pair.texts[0])'", pair.location))
        }
        if let role = settings["propagate_role"], let name = role.text, !name.isEmpty {
            headers.append((name, "the role of the caller", role.location))
        }
    }

    func contains(_ name: String) -> Bool {
        headers.contains { Self.spelled($0.name) == Self.spelled(name) }
    }

    /// Many servers read `_` as `-`.
    private static func spelled(_ name: String) -> String {
        name.lowercased().replacing("_", with: "-")
    }

    /// Reports the headers that KrakenD sends and the result does not.
    func reportLosses(
        besides sent: [String], of endpoint: DocumentNode, _ findings: inout ImportFindings
    ) {
        let listed = (endpoint["input_headers"]?.texts ?? []).map(Self.spelled)
        for header in headers where !sent.contains(header.name) {
            guard listed.contains("*") || listed.contains(Self.spelled(header.name)) else {
                continue
            }
            findings.warning(
                at: header.location,
                "'\(header.name)' is not forwarded: it has \(header.source), and a client could send"
                    + " any other; 'headers' of the endpoint sends it, once the endpoint has 'auth'"
            )
        }
    }
}
