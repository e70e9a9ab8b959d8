import Basics
import HTTP
import JSONText

/// The lines of `explain` about the response: its keys, the effect of failures, and the worst case.
struct ExplainedResponse {
    private let endpoint: EndpointPlan
    private let calls: [ExplainedCall]
    /// Nil if the request can succeed.
    private let refusal: String?
    private let method: Method
    /// Nil for one document.
    private let format: PartFormat?
    private let values: AssumedValues

    init(
        _ endpoint: EndpointPlan, _ calls: ExplainedCalls, _ values: AssumedValues,
        _ head: RequestHead
    ) {
        self.endpoint = endpoint
        self.values = values
        self.calls = calls.all
        refusal = calls.refusal
        method = head.method
        format = endpoint.parts?.format(for: head)
    }

    var lines: [String] {
        if endpoint.calls.isEmpty, let respond { return respond.fixedLines(method) }
        guard let refusal else {
            return ["answer    \(body)"] + (respond?.lines ?? []) + failures + [worst]
        }
        return [refusal] + (sent.isEmpty ? [] : [worst])
    }

    /// RFC 9110, section 9.3.2: a response to HEAD has no body.
    private var body: String {
        if method == .head { return "no body (HEAD)" }
        let status = respond?.status ?? ""
        if let root = respond?.root { return status + root }
        var parts: [(keys: [String], text: String)] = []
        for call in wanted {
            guard let text = member(call),
                text == "..." || !parts.contains(where: { $0.text == text })
            else { continue }
            parts.append((call.plan.placeKeys, text))
        }
        let members = respond?.members(parts) ?? parts.map(\.text)
        var body = "\(status){\(members.joined(separator: ","))}"
        if format != nil { body += ", a record for each member" }
        if calls.contains(where: \.lacksElements) { body += ", partial" }
        return body
    }

    private var respond: RespondExplanation? {
        endpoint.respond.map {
            RespondExplanation(
                respond: $0, values: values,
                missing: calls.filter { !$0.hasValue }.map(\.plan.index))
        }
    }

    /// Of a call that is skipped, its fallback; nil if that adds nothing.
    private func member(_ call: ExplainedCall) -> String? {
        guard let place = call.plan.place else { return nil }
        let isRoot = call.plan.placement == .root
        if call.hasValue { return isRoot ? "..." : "\(place):..." }
        return call.plan.fallbackValue.map { isRoot ? "..." : "\(place):\(String($0.bytes))" }
    }

    private var wanted: [ExplainedCall] { calls.filter(\.isWanted) }

    /// The others fail whatever the backends respond.
    private var sent: [ExplainedCall] { calls.filter(\.isSent) }

    /// How many calls can succeed; a list without elements does.
    private var succeeding: Int { calls.count(where: \.hasValue) }

    // MARK: Failures

    private var failures: [String] {
        var rows = sent.map { call in
            ["", "\(call.plan.name) fails", "-> \(outcome(ofFailing: call.plan))"]
        }
        if sent.count > 1, sent.count == succeeding, !wanted.contains(where: \.plan.isRequired) {
            rows.append(["", "all fail", "-> \(Self.failureStatuses)"])
        }
        if !rows.isEmpty { rows[0][0] = "if" }
        // The label's column is ten wide on every line.
        return TextTable(
            rows.map { [$0[0].isEmpty ? "          " : "if        "] + $0.dropFirst() },
            gaps: [0, 8]
        ).lines
    }

    /// The statuses of a failure, a timeout, and a refusal by the gateway itself.
    private static let failureStatuses = "502 / 504 / 503"

    private func outcome(ofFailing call: CallPlan) -> String {
        let failed = withDependents(of: call)
        guard !failed.contains(where: \.isRequired), failed.count < succeeding else {
            let relayed = call.isRequired ? call.relayStatus.map(\.spelled) : []
            return Self.failureStatuses
                + (relayed.isEmpty ? "" : ", relayed: \(relayed.joined(separator: " "))")
        }
        guard endpoint.respond?.root == nil else { return "\(endpoint.partialStatus.code) partial" }
        if format != nil { return "200, not complete" + records(ofFailing: failed) }
        let fallbacks = failed.map(\.fallbackText).joined(separator: ", ")
        return "\(endpoint.partialStatus.code) partial, \(fallbacks)"
    }

    /// The members that a failure makes up alone.
    private func records(ofFailing failed: [CallPlan]) -> String {
        guard endpoint.report != .off, let parts = endpoint.parts else { return "" }
        let names = parts.members.filter { member in
            member.onlyCall.map { call in failed.contains { $0.index == call } } ?? false
        }.map { String($0.name.plain) }
        return names.isEmpty ? "" : ", 'failure' in the record of \(names.joined(separator: ", "))"
    }

    /// The call, and those that need it and are skipped only when it fails.
    private func withDependents(of call: CallPlan) -> [CallPlan] {
        var failed = [call.index]
        for other in endpoint.graph.order
        where calls[other].isSent && !failed.contains(other)
            && endpoint.calls[other].needs.contains(where: failed.contains)
        {
            failed.append(other)
        }
        return sent.map(\.plan).filter { failed.contains($0.index) }
    }

    // MARK: Worst case

    private var worst: String {
        var ends = Array(repeating: Duration.zero, count: calls.count)
        for index in endpoint.graph.order where calls[index].isSent {
            let start = endpoint.calls[index].waitsFor.map { ends[$0] }.max() ?? .zero
            ends[index] = min(endpoint.deadline, start + endpoint.calls[index].timeout)
        }
        var end = ends.max() ?? .zero
        if let padding = endpoint.padding { end = padding.end(ofResponseAt: end) }
        let requests = calls.reduce(0) { $0 + $1.requestsMax }
        let resends = calls.reduce(0) { $0 + $1.resendsMax }
        return "worst     \(end.spelled) to an answer; \(requests) backend request"
            + "\(requests == 1 ? "" : "s") at most"
            + (resends > 0 ? ", \(requests + resends) with resends after lost connections" : "")
    }
}

extension CallPlan {
    /// Where its part is: a key in quotes, or a path as the configuration has it; nil outside of the response.
    fileprivate var place: String? {
        switch placement {
        case .absent: nil
        case .root: "."
        case .named(let key): "\"\(key)\""
        case .nested(let keys): keys.joined(separator: ".")
        case .appended(let keys): keys.joined(separator: ".") + "[]"
        case .elements(let keys): (list?.listName ?? "") + "[]." + keys.joined(separator: ".")
        }
    }

    /// The keys that lead to its part; none for the members of the root, and in elements of a list.
    fileprivate var placeKeys: [String] {
        switch placement {
        case .named(let key): [key]
        case .nested(let keys), .appended(let keys): keys
        case .root, .absent, .elements: []
        }
    }

    /// What a partial response contains instead of its value.
    fileprivate var fallbackText: String {
        switch (fallbackValue, placement) {
        case (_, .absent): "not in the response"
        case (let value?, .root): "\(String(value.bytes)) at the root"
        case (nil, .root): "without the members of \(name)"
        case (let value?, .appended) where ["null", "[]"].contains(String(value.bytes)):
            "without its elements in \(place ?? name)"
        case (let value?, _): "\(place ?? name):\(String(value.bytes))"
        case (nil, _): "without \(place ?? name)"
        }
    }
}
