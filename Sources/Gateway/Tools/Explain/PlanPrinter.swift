import Basics
import HTTP

/// The summary of the plan that `check` prints: one line for each endpoint.
package struct PlanPrinter {
    private let plan: Plan

    package init(_ plan: Plan) {
        self.plan = plan
    }

    package var summary: String {
        let calls = plan.endpoints.reduce(0) { $0 + $1.calls.count }
        var lines = [
            "OK  \(count(plan.endpoints.count, "endpoint")), \(count(calls, "call")), "
                + count(plan.backends.count, "backend")
        ]
        let hasAuth = !plan.authenticators.isEmpty
        lines +=
            TextTable(plan.endpoints.map(row), gaps: hasAuth ? [1, 3, 3, 5] : [1, 3, 5]).lines
        if plan.endpoints.contains(where: { $0.calls.contains { $0.isRequired } }) || hasWaits {
            lines.append("('!' = required, '->' = waits for)")
        }
        if let listen = ListenSummary(plan).text { lines.append("listen: \(listen)") }
        lines += Features.all.flatMap { $0.summary(of: plan) }
        lines += plan.shares.map { $0.line(workers: plan.process.workers) }
        lines += plan.backends.compactMap { $0.http2ConnectionsText(plan.process.workers) }
        return lines.joined(separator: "\n") + "\n"
    }

    private var hasWaits: Bool {
        plan.endpoints.contains { $0.calls.contains { !$0.waitsFor.isEmpty } }
    }

    private func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    private func row(_ endpoint: EndpointPlan) -> [String] {
        // Without authenticators, every endpoint is public.
        let access = plan.authenticators.isEmpty ? [] : [endpoint.auth?.text ?? "public"]
        let method = endpoint.route.method.rawValue
        return [method, String(endpoint.name.dropFirst(method.count + 1))] + access
            + (endpoint.proxy.map(columns)
                ?? [Self.calls(of: endpoint), "deadline \(endpoint.timing)"])
    }
}

extension PlanPrinter {
    /// The calls; without them, `= 308`, the status of its response.
    private static func calls(of endpoint: EndpointPlan) -> String {
        guard endpoint.calls.isEmpty, let respond = endpoint.respond else {
            return CallList(endpoint).text
        }
        return "= \(respond.status.code)"
    }

    /// `-> legacy /v1/*`, and the limits.
    private func columns(_ proxy: ProxyPlan) -> [String] {
        let target = [plan.backends[proxy.backend].name, proxy.path.text].compactMap { $0 }
        return ["-> \(target.joined(separator: " "))", proxy.limits]
    }
}

extension BackendPlan {
    /// `stock: http2.max_connections 4 for each host and worker, 8 for each host`; nil without HTTP/2
    /// and for one worker.
    fileprivate func http2ConnectionsText(_ workers: Int) -> String? {
        guard http2Text != nil, workers > 1 else { return nil }
        let (all, overflow) = http2ConnectionsMax.multipliedReportingOverflow(by: workers)
        let total = overflow ? Int.max : all
        return "\(name): http2.max_connections \(http2ConnectionsMax) for each host and worker,"
            + " \(total) for each host"
    }
}

/// The calls of an endpoint in one line: `product! stock reviews`, `profile -> recommended,
/// offers`. If several calls wait for one, each further chain repeats its name.
private struct CallList {
    let text: String

    init(_ endpoint: EndpointPlan) {
        let calls = endpoint.calls
        let hasWaits = calls.contains { !$0.waitsFor.isEmpty }
        // A call follows the last call that it waits for; the graph has no cycles.
        var followers: [[Int]] = Array(repeating: [], count: calls.count)
        for call in calls {
            if let last = call.waitsFor.last { followers[last].append(call.index) }
        }
        text = Self.chains(calls, followers).joined(separator: hasWaits ? ", " : " ")
    }

    /// Depth first, without recursion.
    private static func chains(_ calls: [CallPlan], _ followers: [[Int]]) -> [String] {
        var chains: [String] = []
        var pending: [(after: Int?, first: Int)] = calls.filter(\.waitsFor.isEmpty).reversed()
            .map { (nil, $0.index) }
        while let (previous, first) = pending.popLast() {
            var names = previous.map { [calls[$0].name] } ?? []
            var branches: [(after: Int?, first: Int)] = []
            var next: Int? = first
            while let index = next {
                names.append(label(of: calls[index], calls))
                next = followers[index].first
                branches += followers[index].dropFirst().map { (index, $0) }
            }
            chains.append(names.joined(separator: " -> "))
            pending += branches.reversed()
        }
        return chains
    }

    /// `price! (and items)`: with the calls that it waits for, except the previous one.
    private static func label(of call: CallPlan, _ calls: [CallPlan]) -> String {
        let others = call.waitsFor.dropLast().map { calls[$0].name }
        let label = call.name + (call.isRequired ? "!" : "")
        return others.isEmpty ? label : label + " (and \(others.joined(separator: ", ")))"
    }
}
