import Gateway
import YAMLReader

/// Converts `backend/conditional` of the backends of an endpoint to `when` of their calls.
enum KrakenDConditional {
    static let extra = "backend/conditional"

    /// The condition of a call; nil without one.
    static func condition(
        of index: Int, among nodes: [DocumentNode]
    ) throws(Refusal) -> YAMLTree? {
        guard let own = setting(of: nodes[index]) else { return nil }
        guard own["strategy"]?.text == "fallback" else { return try test(own) }
        var others: [YAMLTree] = []
        for node in nodes {
            guard let other = setting(of: node), other["strategy"]?.text != "fallback" else {
                continue
            }
            others.append(try test(other))
        }
        guard !others.isEmpty else { return nil }
        let any = others.count == 1 ? others[0] : .inline([("any", .list(others))])
        return .inline([("not", any)])
    }

    private static func setting(of node: DocumentNode) -> DocumentNode? {
        node["extra_config"]?[extra]
    }

    private static func test(_ setting: DocumentNode) throws(Refusal) -> YAMLTree {
        guard setting["strategy"]?.text == "header", let name = setting["name"]?.text,
            HeaderSyntax.isName(name), let value = setting["value"]?.text
        else {
            throw Refusal(
                "its '\(extra)' has no equivalent: 'when' can compare a header with a text",
                at: setting.location)
        }
        return .inline([
            ("value", .text("{request.header.\(name)}")),
            ("is", .text(KrakenDValidator.literal(value))),
        ])
    }
}
