import YAMLReader

extension Config.Endpoint: PlainBlock {
    /// What problems call an endpoint, also one that cannot be read.
    @Sendable static func title(of node: DocumentNode) -> String {
        guard case .mapping(let members) = node.content,
            let route = members.first(where: { $0.key == "route" }),
            case .scalar(let scalar) = route.node.content
        else { return "this endpoint" }
        return "endpoint '\(scalar.text)'"
    }

    static let keys: [BlockKey<Config.Endpoint>] = [
        .value("route", \.route, .route, isRequired: true, "method and path: GET /products/{id}"),
        .list("params", \.params, .named(), "what clients send in the path, the query or headers"),
        .block("forward", \.forward, "what of the client's request goes to the backends"),
        .block("body", \.body, "what the client's body must look like"),
        .value(
            "deadline", \.deadline, .duration, default: .key("defaults.deadline"),
            "limit on the whole request"),
        .value("min_duration", \.minDuration, .duration, "no answer leaves earlier"),
        .value(
            "succeed_when", \.succeedWhen, .choice,
            default: .words("`required` if a call is required, else `any`"),
            "which calls must work"),
        .value(
            "report", \.report, .choice, default: .key("defaults.report"),
            "where an answer says what failed"),
        .value(
            "expose", \.expose, .choice, default: .key("defaults.expose"),
            "what an answer says about a failure"),
        .value(
            "partial_status", \.partialStatus, .partialStatus,
            default: .key("defaults.partial_status"), "the status of a partial answer"),
        .value("cache_control", \.cacheControl, .headerValue, "Cache-Control of complete answers"),
        .value(
            "server_timing", \.serverTiming, .flag, default: .flag(false),
            "whether answers carry Server-Timing"),
        .value("max_in_flight", \.maxInFlight, .positive, "requests of this endpoint at a time"),
        .value("round_up_to", \.roundUpTo, .duration, "later answers leave at the next such step"),
        .value(
            "max_body", \.maxBody, .size(upTo: SizeLimits.body), default: .key("defaults.max_body"),
            "of the client's request, and of each answer"),
        .value(
            "timeout", \.timeout, .duration, default: .key("defaults.timeout"),
            "limit on each of its calls"),
        .list("calls", \.calls, .named(), isRequired: true, "the requests to backends, by name"),
    ]
}

extension Config.Forward: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .list("headers", \.headers, .list(of: .forwardedHeader), "headers, by name"),
        .init(
            "query", Reading.forwardedQuery.schema,
            "query parameters, by name; all forwards every undeclared one"
        ) { member, forward, decoder in
            guard let query = Reading.forwardedQuery.read(member.node, &decoder) else { return }
            forward.query = query
        },
    ]
}

extension Reading where Value == Config.Forward.Query {
    static var forwardedQuery: Reading {
        let names = Reading<[Located<String>]>.list(of: .forwardedQueryName)
        let all = Reading<Value>.scalar(
            .choice(["all"]), expected: "must be a list of names, or all"
        ) { scalar throws(Refusal) in
            guard scalar.text == "all" else { throw Refusal("must be a list of names, or all") }
            return .all
        }
        return Reading(schema: .either([names.schema, all.schema])) { node, decoder in
            if case .sequence = node.content {
                return names.read(node, &decoder).map { .names($0) }
            }
            return all.read(node, &decoder)
        }
    }
}

extension Config.Body: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value("type", \.type, .choice, "the kind of JSON value"),
        .list("required", \.required, .list(of: .text), "keys that an object must have"),
        .list("properties", \.properties, .named(), "what is known about its keys"),
        .value(
            "max", \.max, .size(upTo: SizeLimits.body),
            default: .words("that of the endpoint's `max_body`"),
            "its size; else 413"),
    ]
}

extension Config.Property: NamedBlock {
    static let word = "property"

    static func problem(withName name: String) -> String? { nil }

    static let keys: [BlockKey<Self>] = [
        .value("type", \.type, .choice, "the kind of JSON value"),
        .list("required", \.required, .list(of: .text), "keys that an object must have"),
        .list("properties", \.properties, .named(), "what is known about its keys"),
        .value("min", \.min, .number, "the least number"),
        .value("max", \.max, .number, "the greatest number"),
        .value("min_length", \.minLength, .length, "the least number of characters"),
        .value("max_length", \.maxLength, .length, "the greatest number of characters"),
        .value("pattern", \.pattern, .pattern, "a regular expression for the whole text"),
        .list("one_of", \.oneOf, .filledList(of: .spelled), "the only values"),
    ]
}

extension Config.Param: NamedBlock {
    static let word = "parameter"

    static func problem(withName name: String) -> String? {
        if name == "request" {
            return "no parameter can be called 'request'; {request.body} has it"
        }
        return isName(name)
            ? nil : "bad name '\(name)' of a parameter; it may have letters, digits, _ and -"
    }

    static let keys: [BlockKey<Config.Param>] = [
        .value(
            "type", \.type, .choice, default: .text("string"), "what it must look like"),
        .value("min", \.min, .number, "the least number"),
        .value("max", \.max, .number, "the greatest number"),
        .value("min_length", \.minLength, .length, "the least number of characters"),
        .value("max_length", \.maxLength, .length, "the greatest number of characters"),
        .value("pattern", \.pattern, .pattern, "a regular expression for the whole text"),
        .list("one_of", \.oneOf, .filledList(of: .spelled), "the only values"),
        .value("default", \.fallback, .spelled, "stands for a value that was not sent"),
        .value(
            "required", \.required, .flag, default: .flag(false), "whether it has to be sent"),
        .value(
            "in", \.sentIn, .choice,
            default: .words("`path` if the route has its name, else `query`"),
            "where it is sent"),
    ]
}
