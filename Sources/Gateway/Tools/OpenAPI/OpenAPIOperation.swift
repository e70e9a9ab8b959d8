import Basics
import HTTP

/// The operation of one endpoint: its parameters, body and responses.
final class OpenAPIOperation {
    private let config: Config.Endpoint
    private let plan: EndpointPlan
    /// The plan of the whole configuration.
    private let whole: Plan
    /// The mandatory parts of the request, declared or not.
    private let needs: OpenAPINeeds
    /// The names of parameters in the path of the description, where they differ.
    private let spelled: [String: String]
    /// Empty if the servers of the description apply.
    private let servers: [JSONTree]

    init(
        _ config: Config.Endpoint, _ plan: EndpointPlan, _ whole: Plan,
        spelled: [String: String], servers: [JSONTree]
    ) {
        self.config = config
        self.plan = plan
        self.whole = whole
        self.spelled = spelled
        self.servers = servers
        needs = OpenAPINeeds(config, plan)
    }

    var method: Config.Method { plan.route.method }
    var path: String { plan.route.path }

    /// - Parameter method: the method of the route, or HEAD, which is supported wherever GET is
    func tree(as method: Config.Method, named name: String) -> JSONTree {
        var members: [(String, JSONTree)] = [
            ("operationId", .text(name)), ("description", .text(description)),
        ]
        if !servers.isEmpty { members.append(("servers", .list(servers))) }
        let parameters = parameters
        if !parameters.isEmpty { members.append(("parameters", .list(parameters))) }
        if let body = requestBody(of: method) { members.append(("requestBody", body)) }
        if let security = security.requirement {
            members.append(("security", security))
        }
        members.append(
            (
                "responses",
                OpenAPIResponses(
                    plan, whole.entry, hasBody: method != .head,
                    takesBody: relayedBody(of: method) != nil
                ).tree
            ))
        return .object(members)
    }

    private var description: String {
        if let proxy = plan.proxy { return Self.description(of: proxy) }
        var text = timing
        if plan.calls.contains(where: \.forward.forwardsAllQuery) {
            text += " Query parameters that are not described are forwarded to backends."
        }
        let forwarded = forwardedHeaders.filter(Self.isReserved)
            .filter { $0.lowercased() != OpenAPISecurity.header }
        if !forwarded.isEmpty {
            text += " Forwarded to backends: \(forwarded.joined(separator: ", "))."
        }
        return text
    }

    private static func description(of proxy: ProxyPlan) -> String {
        let upgrades = proxy.upgrades.map { "\($0)" }.joined(separator: ", ")
        return "Requests and responses are passed through."
            + (upgrades.isEmpty ? "" : " The connection may be upgraded to \(upgrades).")
    }

    private var timing: String {
        plan.padding?.description(deadline: plan.deadline)
            ?? "Responds within \(plan.deadline.spelled)."
    }

    var security: OpenAPISecurity {
        OpenAPISecurity(
            plan, of: whole,
            forwardsAuthorization: forwardedHeaders.contains {
                $0.lowercased() == OpenAPISecurity.header
            },
            needsAuthorization: needs.headers.contains(OpenAPISecurity.header))
    }

    // MARK: Parameters

    private var parameters: [JSONTree] {
        let declared = config.parameterNames.compactMap(parameter)
        return declared + rest + undeclared
    }

    /// What the `*` of the route matches.
    private var rest: [JSONTree] {
        guard plan.route.hasRest else { return [] }
        return [
            Self.parameter(
                spelled[OpenAPIPath.rest] ?? OpenAPIPath.rest(of: plan.route), in: "path",
                isRequired: true,
                .object([("type", .text("string"))]))
        ]
    }

    private func location(of name: String) -> Config.Param.Location {
        let param = config.params.first { $0.name.value == name }
        return param?.sentIn?.value ?? (plan.route.parameters.contains(name) ? .path : .query)
    }

    /// What makes two parameters the same (OpenAPI 3.1, section 4.8.12): the place and the name,
    /// which has no case in a header.
    private static func identity(_ location: String, _ name: String) -> String {
        "\(location) \(location == "header" ? name.lowercased() : name)"
    }

    private func parameter(_ name: String) -> JSONTree? {
        let param = config.params.first { $0.name.value == name }
        let isInPath = plan.route.parameters.contains(name)
        let location = location(of: name)
        // OpenAPI describes these headers elsewhere and ignores them here.
        if location == .header, Self.isReserved(name) { return nil }
        return Self.parameter(
            isInPath ? spelled[name] ?? name : name, in: location.rawValue,
            isRequired: isInPath || param?.required?.value == true
                || (param?.fallback == nil && needs.params.contains(name)),
            OpenAPIValue(param, isInPath: isInPath).tree)
    }

    /// Undeclared query parameters and headers that are forwarded or used; any text is valid.
    private var undeclared: [JSONTree] {
        var names: [(location: String, name: String)] = plan.usedQueryNames.map {
            ("query", String($0))
        }
        if case .names(let queries)? = plan.proxy?.forward?.query {
            names += queries.map { ("query", String($0.value)) }
        }
        names += (forwardedHeaders + plan.headersOfLimitsAndAuth.map { "\($0)" })
            .filter { !Self.isReserved($0) && !security.reads($0) }.map { ("header", $0) }
        var seen = config.parameterNames.map { Self.identity(location(of: $0).rawValue, $0) }
        return names.compactMap { location, name in
            let identity = Self.identity(location, name)
            guard !seen.contains(identity) else { return nil }
            seen.append(identity)
            return Self.parameter(
                name, in: location,
                isRequired: location == "header"
                    ? needs.headers.contains(name.lowercased()) : needs.queries.contains(name),
                location == "query" && isList(name)
                    ? Self.list : .object([("type", .text("string"))]))
        }
    }

    private static let list = JSONTree.object([
        ("type", .text("array")), ("items", .object([("type", .text("string"))])),
    ])

    /// Whether a query parameter may be repeated.
    private func isList(_ name: String) -> Bool {
        config.calls.contains { call in
            if case .requestQuery(name)? = call.each?.list?.value.source { true } else { false }
        }
    }

    /// The headers in `forward:`, and those that calls refer to.
    private var forwardedHeaders: [String] {
        let headers = plan.calls.flatMap(\.forward.headers) + (plan.proxy?.forward?.headers ?? [])
        let forwarded = headers.map { "\($0)" }
        let referred = config.references.compactMap { reference in
            if case .requestHeader(let name) = reference.value.source { name } else { nil }
        }
        var names: [String] = []
        for name in forwarded + referred
        where !names.contains(where: { $0.lowercased() == name.lowercased() }) {
            names.append(name)
        }
        return names
    }

    private static func isReserved(_ header: String) -> Bool {
        ["accept", "content-type", "authorization"].contains(header.lowercased())
    }

    private static func parameter(
        _ name: String, in location: String, isRequired: Bool, _ schema: JSONTree
    ) -> JSONTree {
        .object([
            ("name", .text(name)), ("in", .text(location)),
            ("required", .raw("\(isRequired)")), ("schema", schema),
        ])
    }

    // MARK: Body

    private func requestBody(of method: Config.Method) -> JSONTree? {
        plan.proxy == nil ? usedBody : relayedBody(of: method)
    }

    /// Any body is passed through; bodies of other methods have no defined meaning (RFC 9110 9.3).
    private func relayedBody(of method: Config.Method) -> JSONTree? {
        guard let proxy = plan.proxy, [.post, .put, .patch].contains(method) else { return nil }
        return Self.body(
            plan.contentTypes?.text ?? "*/*", isRequired: false,
            proxy.bodyMax.map { "At most \(Quantity.spelled(bytes: $0))." } ?? "Of any size.",
            .object([]))
    }

    /// A declared body is mandatory and must be valid; an undeclared one is forwarded if a call
    /// uses it.
    private var usedBody: JSONTree? {
        let size = "At most \(Quantity.spelled(bytes: plan.bodyMax))."
        if let body = config.body {
            let fields = needs.bodyFields.map(OpenAPIValue.tree)
            let declared = OpenAPIValue.tree(of: body)
            return Self.body(
                plan.contentTypes?.text ?? "application/json", isRequired: true, size,
                fields.isEmpty ? declared : .object([("allOf", .list([declared] + fields))]))
        }
        let used = config.references.compactMap { reference in
            if case .requestBody(let path) = reference.value.source { path } else { nil }
        }
        guard let first = used.first else { return nil }
        let isJSON = used.contains { !$0.isEmpty } || !first.isEmpty
        let fields = needs.bodyFields.map(OpenAPIValue.tree)
        return Self.body(
            plan.contentTypes?.text ?? (isJSON ? "application/json" : "*/*"),
            isRequired: needs.hasBody, size,
            fields.count > 1 ? .object([("allOf", .list(fields))]) : fields.first ?? .object([]))
    }

    /// - Parameter types: the media types, separated by commas
    private static func body(
        _ types: String, isRequired: Bool, _ description: String, _ schema: JSONTree
    ) -> JSONTree {
        let content = types.split(separator: ", ").map { type in
            (String(type), JSONTree.object([("schema", schema)]))
        }
        return .object([
            ("description", .text(description)), ("required", .raw("\(isRequired)")),
            ("content", .object(content)),
        ])
    }
}
