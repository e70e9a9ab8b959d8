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
        lines += table(plan.endpoints.map(row))
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

    /// Columns as wide as their longest text.
    private func table(_ rows: [[String]]) -> [String] {
        let gaps = [1, 3, 5]
        let widths = gaps.indices.map { column in
            (rows.map { $0[column].count }.max() ?? 0) + gaps[column]
        }
        return rows.map { row in
            var line = ""
            for (column, text) in row.enumerated() {
                line += text
                if column < widths.count {
                    line += String(repeating: " ", count: widths[column] - text.count)
                }
            }
            return line
        }
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
/// Where several wait for one, each further chain begins with its name again.
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
        text = Self.chains(calls, followers).joined(separator: hasWaits ? ", " : " ")
    }

    /// Depth first, without recursion.
    private static func chains(_ calls: [CallPlan], _ followers: [[Int]]) -> [String] {
        var chains: [String] = []
        var open: [(behind: Int?, first: Int)] = calls.filter(\.waitsFor.isEmpty).reversed()
            .map { (nil, $0.index) }
        while let (behind, first) = open.popLast() {
            var names = behind.map { [calls[$0].name] } ?? []
            var branches: [(behind: Int?, first: Int)] = []
            var next: Int? = first
            while let index = next {
                names.append(label(of: calls[index], calls))
                next = followers[index].first
                branches += followers[index].dropFirst().map { (index, $0) }
            }
            chains.append(names.joined(separator: " -> "))
            open += branches.reversed()
        }
        return chains
    }

    /// `price! (and items)`: what it waits for besides the call that it stands behind.
    private static func label(of call: CallPlan, _ calls: [CallPlan]) -> String {
        let others = call.waitsFor.dropLast().map { calls[$0].name }
        let label = call.name + (call.isRequired ? "!" : "")
        return others.isEmpty ? label : label + " (and \(others.joined(separator: ", ")))"
    }
}
