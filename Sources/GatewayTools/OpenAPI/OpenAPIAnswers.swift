import Gateway
import GatewayConfig
import HTTP

/// The answers that an endpoint may give, by status.
struct OpenAPIAnswers {
    private let plan: EndpointPlan
    /// The answers to HEAD have none.
    private let hasBody: Bool

    init(_ plan: EndpointPlan, hasBody: Bool) {
        self.plan = plan
        self.hasBody = hasBody
    }

    var tree: JSONTree {
        var answers: [(String, JSONTree)] = [("200", success)]
        if plan.partialStatus != .ok { answers.append(("\(plan.partialStatus.code)", partial)) }
        var problems: [String] = ["400", "413", "502", "503", "504"]
        problems.insert(contentsOf: relayed.filter { !problems.contains($0) }, at: 1)
        for status in problems.sorted() { answers.append((status, problem(status))) }
        answers.append(("default", problem("default")))
        return .object(answers)
    }

    /// The statuses that required calls relay, whole classes as `4XX`.
    private var relayed: [String] {
        var statuses: [String] = []
        for range in plan.calls.filter(\.isRequired).flatMap(\.relayStatus) {
            for hundred in range.lowerBound / 100...range.upperBound / 100 {
                let whole = hundred * 100...hundred * 100 + 99
                let part = range.clamped(to: whole)
                statuses += part == whole ? ["\(hundred)XX"] : part.map { "\($0)" }
            }
        }
        var seen: Set<String> = ["200", "\(plan.partialStatus.code)"]
        return statuses.filter { seen.insert($0).inserted }
    }

    // MARK: Success

    private var success: JSONTree {
        answer(
            plan.partialStatus == .ok && mayBePartial
                ? "What the calls gave; `Gateway-Complete` says whether all of them worked."
                : "What the calls gave.",
            type: "application/json", schema: body, relayed: relayedHeaders)
    }

    private var partial: JSONTree {
        answer(
            "Some optional calls failed.", type: "application/json", schema: body,
            relayed: relayedHeaders)
    }

    /// The headers of backends that calls relay, once each. Only calls that succeeded relay them, so
    /// none is sure to be there.
    private var relayedHeaders: [(String, JSONTree)] {
        var names: [String] = []
        for name in plan.calls.flatMap(\.relayHeaders).map({ "\($0)" })
        where !names.contains(where: { $0.lowercased() == name.lowercased() }) {
            names.append(name)
        }
        return names.map { name in
            (
                name,
                .object([
                    ("description", .text("As a backend sent it.")),
                    ("schema", .object([("type", .text("string"))])),
                ])
            )
        }
    }

    private var mayBePartial: Bool { plan.calls.contains { !$0.isRequired } }

    /// One member for each call; those of calls that are merged into the root are unknown.
    private var body: JSONTree {
        var properties = plan.calls.filter { $0.placement == .named }.map { call in
            (call.name, OpenAPIPart(call).tree)
        }
        let always = plan.calls.filter { call in
            call.placement == .named && call.condition == nil
                && (call.isRequired || call.fallback != .omit)
        }
        if plan.report == .body {
            properties.append(
                ("_gateway", .object([("$ref", .text("#/components/schemas/Report"))])))
        }
        var members: [(String, JSONTree)] = [
            ("type", .text("object")), ("properties", .object(properties)),
        ]
        if !always.isEmpty { members.append(("required", .texts(always.map(\.name)))) }
        if plan.calls.allSatisfy({ $0.placement == .named }) {
            members.append(("additionalProperties", .raw("false")))
        }
        return .object(members)
    }

    // MARK: Problems

    private func problem(_ status: String) -> JSONTree {
        if let body = relayedBody(status) { return body }
        return hasBody
            ? .object([("$ref", .text("#/components/responses/\(Self.component(status))"))])
            : .object([("description", .text(OpenAPIComponents.words(status)))])
    }

    private static func component(_ status: String) -> String {
        ["400", "413", "502", "503", "504"].contains(status) ? "Status\(status)" : "Problem"
    }

    /// With `relay_body`, the backend's own answer.
    private func relayedBody(_ status: String) -> JSONTree? {
        let relaysIt = relayed.contains(status) && plan.calls.contains(where: \.relaysBody)
        guard relaysIt else { return nil }
        return answer("The answer of a backend.", type: "*/*", schema: .object([]))
    }

    private func answer(
        _ description: String, type: String, schema: JSONTree, relayed: [(String, JSONTree)] = []
    ) -> JSONTree {
        let own = headers.map { ($0, OpenAPIComponents.header($0)) }
        var members: [(String, JSONTree)] = [
            ("description", .text(description)), ("headers", .object(own + relayed)),
        ]
        if hasBody {
            members.append(("content", .object([(type, .object([("schema", schema)]))])))
        }
        return .object(members)
    }

    private var headers: [String] {
        var names = ["Gateway-Complete", "X-Request-Id"]
        if plan.report == .header { names.append("Gateway-Failures") }
        if plan.hasServerTiming { names.append("Server-Timing") }
        return names
    }
}
