import Basics

/// The plan as `check` prints it: one line for each endpoint.
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
        lines += TextTable(plan.endpoints.map(row), gaps: [1, 3, 5]).lines
        if plan.endpoints.contains(where: { $0.calls.contains { $0.isRequired } }) || hasWaits {
            lines.append("('!' = required, '->' = waits for)")
        }
        lines += shares
        return lines.joined(separator: "\n") + "\n"
    }

    private var hasWaits: Bool {
        plan.endpoints.contains { $0.calls.contains { !$0.waitsFor.isEmpty } }
    }

    private func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    private func row(_ endpoint: EndpointPlan) -> [String] {
        [
            endpoint.route.method.rawValue, endpoint.route.path, CallList(endpoint).text,
            "deadline \(endpoint.timing)",
        ]
    }

    /// Numbers that the operator gave per process and that each worker gets a part of.
    private var shares: [String] {
        let workers = plan.process.workers
        guard workers > 1 else { return [] }
        return plan.backends.compactMap { backend in
            guard let bulkhead = backend.bulkhead else { return nil }
            var text =
                "\(backend.name): max_concurrent \(bulkhead.written.concurrent), "
                + "\(bulkhead.concurrentMax) for each of \(workers) workers"
            if bulkhead.written.queue > 0 {
                text += "; queue \(bulkhead.written.queue), \(bulkhead.queueMax) each"
            }
            return text
        }
    }
}

/// The calls of an endpoint in one line: `product! stock reviews`, `profile -> recommended, offers`.
private struct CallList {
    let text: String

    init(_ endpoint: EndpointPlan) {
        let calls = endpoint.calls
        let hasWaits = calls.contains { !$0.waitsFor.isEmpty }
        // A call stands behind the last of those that it waits for; the graph has no cycles.
        var followers: [[Int]] = Array(repeating: [], count: calls.count)
        for call in calls {
            if let last = call.waitsFor.last { followers[last].append(call.index) }
        }
        let firsts = calls.filter(\.waitsFor.isEmpty)
        text = firsts.map { Self.text(of: $0.index, calls, followers) }
            .joined(separator: hasWaits ? ", " : " ")
    }

    /// The call and those behind it, depth first without recursion.
    private static func text(of first: Int, _ calls: [CallPlan], _ followers: [[Int]]) -> String {
        var text = ""
        var open = [first]
        while let index = open.popLast() {
            let call = calls[index]
            if index != first { text += " -> " }
            let others = call.waitsFor.dropLast().map { calls[$0].name }
            text += call.name + (call.isRequired ? "!" : "")
            if !others.isEmpty { text += " (and \(others.joined(separator: ", ")))" }
            open += followers[index].reversed()
        }
        return text
    }
}
