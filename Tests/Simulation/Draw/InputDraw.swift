import Rehearsal

/// Draws what requests must not have, and requests that have it: `content_types`, `unknown_query`,
/// `unknown_fields`, `user_agents`; and the headers of an endpoint.
struct InputDraw {
    let random: RandomSource

    static let deniedAgent = "spider-bot/2"

    /// The rules of one endpoint.
    static func endpoint(_ index: Int, hasBody: Bool) -> [KeyWeight] {
        [
            .key("content_types", hasBody ? 0.25 : 0, of: ["[application/json]"]),
            .key("unknown_query", 0.15, of: ["refuse"]),
            .key(
                "headers", 0.25,
                of: [
                    #"{"X-Shared": e\#(index)}"#, #"{"X-Shared": "{request.header.X-User?}"}"#,
                ]),
        ]
    }

    /// Adds what a client may send.
    func complete(_ request: inout ScriptedRequest, _ config: DrawnConfig) {
        guard request.defect == nil, let endpoint = config.endpoint(of: request)
        else { return }
        if config.entry.deniesAgents, random.chance(0.6) {
            request.headers.append(
                ("User-Agent", random.pick([Self.deniedAgent, "Mozilla/5.0", "bot"])))
        }
        guard let body = request.body else { return }
        if !endpoint.input.contentTypes.isEmpty, random.chance(0.9) {
            let types = ["application/json", "Application/JSON; charset=utf-8", "text/plain"]
            request.headers.append(("Content-Type", random.pick(types)))
        }
        if endpoint.input.refusesUnknownFields, random.chance(0.7) {
            request.body = body.split(separator: #","mark""#).first.map {
                $0.hasSuffix("}") ? String($0) : String($0) + "}"
            }
        }
    }
}
