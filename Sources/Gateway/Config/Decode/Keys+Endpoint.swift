import YAMLReader

/// The keys of an endpoint and of its blocks.
extension Config.Endpoint: PlainBlock {
    /// The name of an endpoint in problems, also of one that cannot be read.
    @Sendable static func title(of node: DocumentNode) -> String {
        guard case .mapping(let members) = node.content,
            let route = members.first(where: { $0.key == "route" }),
            case .scalar(let scalar) = route.node.content
        else { return "this endpoint" }
        return "endpoint '\(scalar.text)'"
    }

    static let alternatives = [["calls", "proxy", "respond"]]
    static let companion: (key: String, of: String)? = ("respond", "calls")

    static let keys: [BlockKey<Config.Endpoint>] = coreKeys + Features.keys(\.endpoint)

    private static let coreKeys: [BlockKey<Config.Endpoint>] = [
        .value(
            "route", \.route, .route, isRequired: true, "method and path, e.g. GET /products/{id}"),
        .list(
            "params", \.params, .named(), "parameters that clients send in path, query or headers"),
        .block(
            "forward", \.forward,
            "client headers and query parameters that are forwarded; none unless listed"),
        .list(
            "headers", \.headers, .headerTemplates,
            "header fields that all calls send; a call's own of the same name replaces them"),
        .value(
            "succeed_when", \.succeedWhen, .choice,
            default: .description("`required` if a call is required, else `any`"),
            "which calls must succeed"),
        .value(
            "report", \.report, .choice, default: .key("defaults.report"),
            "where a response reports failed calls"),
        .value(
            "expose", \.expose, .choice, default: .key("defaults.expose"),
            "what a response reveals about a failure"),
        .value(
            "partial_status", \.partialStatus, .partialStatus,
            default: .key("defaults.partial_status"), "status of a partial response"),
        .value(
            "cache_control", \.cacheControl, .headerValue, "Cache-Control of complete responses"),
        .value(
            "server_timing", \.serverTiming, .flag, default: .flag(false),
            "whether responses have a Server-Timing header"),
        .value(
            "max_body", \.maxBody, .size(upTo: SizeLimits.body), default: .key("defaults.max_body"),
            "maximum body size of the client's request and of each backend response"),
        .list("calls", \.calls, .named(), "requests to backends, by name"),
    ]
}

extension Config.Forward: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .list("headers", \.headers, .list(of: .forwardedHeader), "names of headers"),
        .init(
            "query", ValueReader.forwardedQuery.schema,
            "names of query parameters; all forwards every undeclared one"
        ) { member, forward, decoder in
            guard let query = ValueReader.forwardedQuery.read(member.node, &decoder) else { return }
            forward.query = query
        },
    ]
}

extension ValueReader where Value == Config.Forward.Query {
    static var forwardedQuery: ValueReader {
        let names = ValueReader<[Located<String>]>.list(of: .forwardedQueryName)
        let all = ValueReader<Value>.scalar(
            .choice(["all"]), expected: "must be a list of names, or all"
        ) { scalar throws(Refusal) in
            guard scalar.text == "all" else { throw Refusal("must be a list of names, or all") }
            return .all
        }
        return ValueReader(schema: .either([names.schema, all.schema])) { node, decoder in
            if case .sequence = node.content {
                return names.read(node, &decoder).map { .names($0) }
            }
            return all.read(node, &decoder)
        }
    }
}

extension Config.Param: NamedBlock {
    static let noun = "parameter"

    static func problem(withName name: String) -> String? {
        if name == "request" {
            return
                "no parameter can have the name 'request'; references such as {request.body} use it"
        }
        return isName(name)
            ? nil : "bad name '\(name)' of a parameter; names consist of letters, digits, _ and -"
    }

    static let keys: [BlockKey<Config.Param>] = [
        .value(
            "type", \.type, .choice, default: .text("string"), "type of the value"),
        .value("min", \.min, .number, "minimum value"),
        .value("max", \.max, .number, "maximum value"),
        .value("min_length", \.minLength, .length, "minimum number of characters"),
        .value("max_length", \.maxLength, .length, "maximum number of characters"),
        .value("pattern", \.pattern, .pattern, "regular expression that the whole text must match"),
        .list("one_of", \.oneOf, .filledList(of: .spelled), "allowed values"),
        .value("default", \.fallback, .spelled, "value that is used if the client sends none"),
        .value(
            "required", \.required, .flag, default: .flag(false), "whether clients must send it"),
        .value(
            "in", \.sentIn, .choice,
            default: .description("`path` if the route has its name, else `query`"),
            "part of the request that contains it"),
    ]
}
