import Rehearsal

/// Draws what requests must not have, and requests that have it: `content_types`, `unknown_query`,
/// `unknown_fields`, `user_agents`; and the headers of an endpoint.
struct InputDraw {
    let random: RandomSource

    static let deniedAgent = "spider-bot/2"

    /// The rules of one endpoint.
    func endpoint(_ index: Int, hasBody: Bool) -> DrawnInput {
        let random = random.derived("endpoint", index)
        return DrawnInput(
            contentTypes: hasBody ? random.maybe(0.25, ["application/json"]) ?? [] : [],
            refusesUnknownQuery: random.chance(0.15), refusesUnknownFields: random.chance(0.15),
            sharedHeader: random.maybe(
                0.25,
                random.chance(0.5)
                    ? .constant("e\(index)") : .header("X-User")))
    }

    /// Adds what a client may send.
    func complete(_ request: inout ScriptedRequest, _ config: DrawnConfig) {
        guard request.defect == nil, let endpoint = request.endpoint.map({ config.endpoints[$0] })
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

/// What the requests of an endpoint must not have, and the header of all its calls.
struct DrawnInput {
    var contentTypes: [String] = []
    var refusesUnknownQuery = false
    /// Of a declared body.
    var refusesUnknownFields = false
    /// The value of `X-Shared` in `headers`.
    var sharedHeader: SharedHeader?

    enum SharedHeader: Equatable {
        case constant(String)
        /// `{request.header.X-User?}`
        case header(String)
    }
}
