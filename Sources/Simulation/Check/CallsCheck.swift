import Basics
import Rehearsal

/// What backends are sent is what the configuration says, with the values of the right request.
struct CallsCheck {
    let record: RunRecord
    let violations: ViolationLog

    func run() {
        for attempt in record.attempts {
            guard let request = record.request(of: attempt)
            else { continue }
            let config = record.configs[attempt.call.generation]
            let endpoint = config.endpoints[attempt.call.endpoint]
            let check = OneCall(
                attempt: attempt, request: request, config: config, endpoint: endpoint,
                call: endpoint.calls[attempt.call.call], record: record)
            for fault in check.faults {
                violations.add(
                    .calls, attempt.mark, "\(fault): \(attempt.message.startLine)")
            }
        }
    }
}

private struct OneCall {
    let attempt: AttemptRecord
    let request: RequestRecord
    let config: DrawnConfig
    let endpoint: DrawnEndpoint
    let call: DrawnCall
    let record: RunRecord

    private var message: PeerMessage { attempt.message }
    private var model: RequestModel { RequestModel(request: request.request, config: config) }

    var faults: [String] {
        guard case .goes(let meant) = model.expectation, meant.index == endpoint.index else {
            return ["a call for a request that is to be refused"]
        }
        return [connection, method, backend, order, lines, body, budget].compactMap { $0 } + values
    }

    private var connection: String? {
        if attempt.isReckless { return "sent where the backend had spoken unasked" }
        return config.backends[call.backend].objection(to: attempt.session, attempt.host)
    }

    private var method: String? {
        let method = message.startLine.split(separator: " ").first.map(String.init)
        return method == call.method ? nil : "not a \(call.method)"
    }

    private var backend: String? {
        if attempt.backend != call.backend { return "sent to b\(attempt.backend)" }
        guard message["X-Backend"] == config.backends[call.backend].header else {
            return "not the headers of its backend"
        }
        return model.isWanted(call) ? nil : "made although its condition does not hold"
    }

    /// Not before the calls in `after` have succeeded.
    private var order: String? {
        let early = call.after.map { endpoint.calls[$0] }.first { other in
            guard model.isWanted(other) else { return false }
            let evidence = CallEvidence(other, of: request, endpoint, config, record)
            return !evidence.isPoisoned && !evidence.hasSucceeded(by: attempt.sent)
        }
        return early.map { "sent before \($0.name), which it comes after, had succeeded" }
    }

    /// Nothing of the client's head goes along that was not listed.
    private var lines: String? {
        if message["X-Secret"] != nil { return "a header went along that nobody forwards" }
        let forwarded = call.forwardHeaders ?? endpoint.forwardHeaders
        for name in ["X-User", "X-Tenant"] {
            let expected = forwarded.contains(name) ? request.request.header(name) : nil
            if message[name] != expected { return "\(name) is \(message[name] ?? "missing")" }
        }
        return message["traceparent"] == nil ? "no traceparent" : nil
    }

    private var body: String? {
        guard call.sendsBody else { return message.body.isEmpty ? nil : "an unexpected body" }
        return String(decoding: message.body, as: UTF8.self) == request.request.body
            ? nil : "not the body of its request"
    }

    private var budget: String? {
        guard let told = message["Gateway-Deadline-Ms"].flatMap({ Int($0) }) else {
            return "no Gateway-Deadline-Ms"
        }
        return told <= endpoint.deadline ? nil : "told more time than there is"
    }

    /// The values that stand in path, query and headers, decoded.
    private var values: [String] {
        // The first segment behind the prefix of the host names the call.
        let all = message.path.split(separator: "/").map { String($0).percentDecoded }
        let key = all.firstIndex(of: attempt.call.text) ?? 0
        var segments = all[(key + 1)...]
        var faults: [String] = []
        for (index, use) in call.uses.enumerated() {
            let found: String?
            switch use.place {
            case .path: found = segments.popFirst()
            case .query: found = message.query.first { $0.name == "u\(index)" }?.value
            case .header: found = message["X-U\(index)"]
            }
            if use.isOptional, model.value(of: use.source) == nil {
                // A header is left out with its line, in a query only the value is.
                if found == (use.place == .header ? nil : "") { continue }
            } else if let found, isRight(found, use) {
                continue
            }
            faults.append("{\(use.written(in: endpoint))} is \(found ?? "missing")")
        }
        return faults + queryFaults
    }

    /// The client's query goes along only where it is listed.
    private var queryFaults: [String] {
        if endpoint.forwardsAllQuery, call.forwardHeaders == nil { return allQueryFaults }
        let found = message.query.filter { $0.name == "debug" }.map(\.value)
        let forwards = call.forwardHeaders == nil && endpoint.forwardQuery.contains("debug")
        let sent = request.request.query.filter { $0.name == "debug" }.map(\.value)
        return found == (forwards ? sent : []) ? [] : ["debug is \(found)"]
    }

    /// `query: all`: what the endpoint does not declare and the call does not set itself, in order.
    private var allQueryFaults: [String] {
        let own = call.uses.indices.filter { call.uses[$0].place == .query }.map { "u\($0)" }
        let declared = endpoint.params.filter { $0.isDeclared && !$0.isHeader }.map(\.name)
        let found = message.query.filter { !own.contains($0.name) }
        let sent = request.request.query.filter {
            !own.contains($0.name) && !declared.contains($0.name)
        }
        return found.elementsEqual(sent, by: ==) ? [] : ["the query is \(found), not \(sent)"]
    }

    private func isRight(_ value: String, _ use: DrawnUse) -> Bool {
        guard case .call(let index, let path) = use.source else {
            return value == model.value(of: use.source)
        }
        let evidence = CallEvidence(endpoint.calls[index], of: request, endpoint, config, record)
        return evidence.isPoisoned
            || evidence.values.contains { tree in
                tree.value(at: TreePath(path))?.string == value
            }
    }
}
