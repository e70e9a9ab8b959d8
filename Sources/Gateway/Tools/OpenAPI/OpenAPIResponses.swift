import HTTP

/// The possible responses of an endpoint, by status.
struct OpenAPIResponses {
    private let plan: EndpointPlan
    private let entry: EntryPlan
    /// False for HEAD.
    private let hasBody: Bool
    /// Whether a body of the client is passed through.
    private let takesBody: Bool

    init(_ plan: EndpointPlan, _ entry: EntryPlan, hasBody: Bool, takesBody: Bool) {
        self.plan = plan
        self.entry = entry
        self.hasBody = hasBody
        self.takesBody = takesBody
    }

    var tree: JSONTree {
        if let proxy = plan.proxy { return tree(of: proxy) }
        if plan.calls.isEmpty, let respond = plan.respond { return tree(of: respond) }
        var responses: [(String, JSONTree)] = [("\(status.code)", success)]
        if plan.partialStatus != status, mayBePartial {
            responses.append(("\(plan.partialStatus.code)", partial))
        }
        var problems: [String] = ["400", "413", "502", "503", "504"] + refusals
        problems.insert(contentsOf: relayed.filter { !problems.contains($0) }, at: 1)
        for status in Set(problems).sorted() { responses.append((status, problem(status))) }
        responses.append(("default", problem("default")))
        return .object(responses)
    }

    /// Any response of the backend, and the problems of the gateway.
    private func tree(of proxy: ProxyPlan) -> JSONTree {
        var own = ["400", "502", "503", "504"] + refusals
        if takesBody { own += proxy.bodyMax == nil ? ["408"] : ["408", "413"] }
        let upgrade: [(String, JSONTree)] =
            proxy.upgrades.isEmpty
            ? [] : [("101", .object([("description", .text("The connection is upgraded."))]))]
        return .object(
            upgrade + Set(own).sorted().map { ($0, problem($0)) } + [
                ("default", .object([("description", .text("The response of the backend."))]))
            ])
    }

    /// The one response without calls, and the refusals of the gateway.
    private func tree(of respond: RespondPlan) -> JSONTree {
        let own = Set(["400", "413"] + refusals).subtracting(["\(status.code)"]).sorted()
        var members: [(String, JSONTree)] = [
            ("description", .text("The response of the gateway itself.")),
            (
                "headers",
                .object([("X-Request-Id", OpenAPIComponents.header("X-Request-Id"))] + sent)
            ),
        ]
        if hasBody, let content = respond.content {
            members.append(
                ("content", .object([(content.type, .object([("schema", content.schema)]))])))
        }
        return .object(
            [("\(status.code)", .object(members))] + own.map { ($0, problem($0)) }
                + [("default", problem("default"))])
    }

    /// Of a complete response.
    private var status: Status { plan.respond?.status ?? .ok }

    /// The statuses of the features' refusals, once each.
    private var refusals: [String] {
        Array(Set(Features.all.flatMap { $0.refusedStatuses(plan, of: entry) }))
    }

    /// The statuses that required calls proxy, whole classes as `4XX`.
    private var relayed: [String] {
        var statuses: [String] = []
        for range in plan.calls.filter(\.isRequired).flatMap(\.relayStatus) {
            for hundred in range.lowerBound / 100...range.upperBound / 100 {
                let whole = hundred * 100...hundred * 100 + 99
                let part = range.clamped(to: whole)
                statuses += part == whole ? ["\(hundred)XX"] : part.map { "\($0)" }
            }
        }
        var seen: Set<String> = ["\(status.code)", "\(plan.partialStatus.code)"]
        return statuses.filter { seen.insert($0).inserted }
    }

    // MARK: Success

    private var success: JSONTree {
        response(
            plan.partialStatus == status && mayBePartial
                ? "The results of the calls; `Gateway-Complete` is `true` if all of them succeeded."
                : "The results of the calls.",
            type: "application/json", schema: body, relayed: relayedHeaders, others: parts)
    }

    /// The formats of a response in parts, which has no `Gateway-Complete`.
    private var parts: [(String, JSONTree)] {
        (plan.parts?.formats ?? []).map { format in
            let frame = format == .sse ? "event" : "line"
            let text =
                "One record in each \(frame): "
                + #"{"part":NAME,"value":...} or {"part":NAME,"failure":...}; "#
                + #"the last one is {"end":true,"complete":...}."#
            return (
                format.mediaType,
                .object([
                    (
                        "schema",
                        .object([("type", .text("string")), ("description", .text(text))])
                    )
                ])
            )
        }
    }

    private var partial: JSONTree {
        response(
            "Some optional calls failed.", type: "application/json", schema: body,
            relayed: relayedHeaders)
    }

    /// The headers that calls proxy from backends, once each. All are optional, because only calls
    /// that succeeded proxy them.
    private var relayedHeaders: [(String, JSONTree)] {
        var names: [String] = []
        for name in plan.calls.flatMap(\.relayHeaders).map({ "\($0)" })
        where !names.contains(where: { $0.lowercased() == name.lowercased() }) {
            names.append(name)
        }
        return sent
            + Self.headers(
                names.filter { name in
                    !sent.contains { $0.0.lowercased() == name.lowercased() }
                }, "Relayed from a backend.")
    }

    /// The headers of `respond`.
    private var sent: [(String, JSONTree)] {
        Self.headers(
            (plan.respond?.headerNames ?? []).filter { $0.lowercased() != "content-type" },
            "Left out if a value in it is missing.")
    }

    private static func headers(_ names: [String], _ description: String) -> [(String, JSONTree)] {
        names.map { name in
            (
                name,
                .object([
                    ("description", .text(description)),
                    ("schema", .object([("type", .text("string"))])),
                ])
            )
        }
    }

    private var mayBePartial: Bool {
        plan.calls.contains { !$0.isRequired || $0.list?.mayLackValues == true }
    }

    /// The members that calls are put in; the members of calls that are merged into the root are unknown.
    private var body: JSONTree {
        if let root = plan.respond?.rootSchema { return root }
        var properties = OpenAPIMembers(plan.calls).properties
        let alwaysMade = plan.calls.filter { call in
            call.condition == nil && (call.isRequired || call.fallback != .omit)
        }.compactMap(\.ownKey)
        var always = properties.map(\.0).filter(alwaysMade.contains)
        let isClosed = !plan.calls.contains { $0.placement == .root }
        plan.respond?.change(&properties, required: &always, isClosed: isClosed)
        if plan.report == .body {
            properties.append(
                (
                    Config.Endpoint.Report.key,
                    .object([("$ref", .text("#/components/schemas/Report"))])
                ))
        }
        var keywords: [(String, JSONTree)] = [
            ("type", .text("object")), ("properties", .object(properties)),
        ]
        if !always.isEmpty { keywords.append(("required", .texts(always))) }
        if isClosed {
            keywords.append(("additionalProperties", .raw("false")))
        }
        return .object(keywords)
    }

    // MARK: Problems

    private func problem(_ status: String) -> JSONTree {
        if let body = relayedBody(status) { return body }
        return hasBody
            ? .object([("$ref", .text("#/components/responses/\(Self.component(status))"))])
            : .object([("description", .text(OpenAPIComponents.description(of: status)))])
    }

    private static func component(_ status: String) -> String {
        OpenAPIComponents.statuses.contains(status) ? "Status\(status)" : "Problem"
    }

    /// With `relay_body`, the backend's response.
    private func relayedBody(_ status: String) -> JSONTree? {
        let relaysIt = relayed.contains(status) && plan.calls.contains(where: \.relaysBody)
        guard relaysIt else { return nil }
        return response("The response of a backend.", type: "*/*", schema: .object([]))
    }

    private func response(
        _ description: String, type: String, schema: JSONTree, relayed: [(String, JSONTree)] = [],
        others: [(String, JSONTree)] = []
    ) -> JSONTree {
        var own = headers.map { ($0, OpenAPIComponents.header($0)) }
        if !others.isEmpty {
            own.removeAll { $0.0 == "Gateway-Complete" }
            own += Self.headers(
                ["Gateway-Complete"], "Of a document: `true` if every call succeeded.")
        }
        var members: [(String, JSONTree)] = [
            ("description", .text(description)), ("headers", .object(own + relayed)),
        ]
        if hasBody {
            let content = [(type, JSONTree.object([("schema", schema)]))] + others
            members.append(("content", .object(content)))
        }
        return .object(members)
    }

    private var headers: [String] {
        var names = ["Gateway-Complete", "X-Request-Id"]
        if plan.report == .header { names.append("Gateway-Failures") }
        if plan.hasServerTiming { names.append("Server-Timing") }
        return names + Features.all.flatMap { $0.responseHeaders(plan) }
    }
}
