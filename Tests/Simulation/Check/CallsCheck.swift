import Basics
import Rehearsal

/// Requests to backends are as configured, with the values of their own client request.
struct CallsCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for attempt in record.attempts {
            guard let request = record.request(of: attempt)
            else { continue }
            let config = record.configs[attempt.call.generation]
            let endpoint = config.endpoints[attempt.call.endpoint]
            let check = AttemptCheck(
                attempt: attempt, request: request, config: config, endpoint: endpoint,
                call: endpoint.calls[attempt.call.call], record: record)
            for fault in check.faults {
                violations.add(
                    .calls, attempt.mark, "\(fault): \(attempt.message.startLine)")
            }
        }
    }
}

private struct AttemptCheck {
    let attempt: AttemptRecord
    let request: RequestRecord
    let config: DrawnConfig
    let endpoint: DrawnEndpoint
    let call: DrawnCall
    let record: RunRecord

    private var message: PeerMessage { attempt.message }
    private var model: RequestModel { RequestModel(request: request.request, config: config) }

    var faults: [String] {
        guard case .starts(let meant) = model.expectation, meant.index == endpoint.index else {
            return ["a call for a request that must be refused"]
        }
        return [connection, method, backend, fields, body, budget].compactMap { $0 } + values
    }

    private var connection: String? {
        if attempt.reusesSpoiledConnection { return "sent on a connection with unsolicited data" }
        return config.backends[call.backend].objection(to: attempt.session, attempt.host)
    }

    private var method: String? {
        let method = message.startLine.split(separator: " ").first.map(String.init)
        return method == call.method ? nil : "not a \(call.method)"
    }

    private var backend: String? {
        if attempt.backend != call.backend { return "sent to b\(attempt.backend)" }
        guard message["X-Backend"] == config.backends[call.backend].header else {
            return "without the headers of its backend"
        }
        return conditions.canBeMade(call) ? nil : "made although its condition does not hold"
    }

    private var conditions: ConditionModel {
        ConditionModel(record: record, request: request, endpoint: endpoint, config: config)
    }

    /// Only listed header fields of the client are forwarded.
    private var fields: String? {
        if message["X-Secret"] != nil { return "a header was forwarded that is not listed" }
        let forwarded = call.forwardHeaders ?? endpoint.forwardHeaders
        for name in ["X-User", "X-Tenant"] {
            let expected = forwarded.contains(name) ? request.request.header(name) : nil
            if message[name] != expected { return "\(name) is \(message[name] ?? "missing")" }
        }
        let shared = sharedHeader
        if message["X-Shared"] != shared {
            return "X-Shared is \(message["X-Shared"] ?? "missing"), not \(shared ?? "missing")"
        }
        return message["traceparent"] == nil ? "no traceparent" : nil
    }

    /// The endpoint's header, unless the call has its own.
    private var sharedHeader: String? {
        if call.replacesSharedHeader { return call.name }
        switch endpoint.input.sharedHeader {
        case .constant(let text): return text
        case .header(let name): return request.request.header(name)
        case nil: return nil
        }
    }

    private var body: String? {
        guard call.sendsBody else { return message.body.isEmpty ? nil : "an unexpected body" }
        return String(decoding: message.body, as: UTF8.self) == request.request.body
            ? nil : "not the body of its request"
    }

    private var budget: String? {
        guard let stated = message["Gateway-Deadline-Ms"].flatMap({ Int($0) }) else {
            return "no Gateway-Deadline-Ms"
        }
        return stated <= endpoint.deadline ? nil : "Gateway-Deadline-Ms exceeds the deadline"
    }

    /// The values in path, query and headers, decoded.
    private var values: [String] {
        // The first segment behind the host's prefix names the call.
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
                // An absent value omits the whole header, but only the value of a query parameter.
                if found == (use.place == .header ? nil : "") { continue }
            } else if let found, isRight(found, use) {
                continue
            }
            faults.append("\(use.written) is \(found ?? "missing")")
        }
        if call.hasList {
            let element = message.query.first { $0.name == DrawnUse.element }?.value
            if !request.request.listElements.contains(element ?? "") {
                faults.append("its element is \(element ?? "missing")")
            }
        }
        return faults + queryFaults
    }

    /// Only listed query parameters of the client are forwarded.
    private var queryFaults: [String] {
        if endpoint.forwardsAllQuery, call.forwardHeaders == nil { return allQueryFaults }
        let found = message.query.filter { $0.name == "debug" }.map(\.value)
        let forwards = call.forwardHeaders == nil && endpoint.forwardQuery.contains("debug")
        let sent = request.request.query.filter { $0.name == "debug" }.map(\.value)
        return found == (forwards ? sent : []) ? [] : ["debug is \(found)"]
    }

    /// `query: all` forwards, in order, what the endpoint does not declare and the call does not set.
    private var allQueryFaults: [String] {
        let own =
            call.uses.indices.filter { call.uses[$0].place == .query }.map { "u\($0)" }
            + (call.hasList ? [DrawnUse.element] : [])
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
        return record.excuses.add(.unsolicitedData, request, if: evidence.isAmbiguous)
            || evidence.values.contains { tree in
                tree.value(at: TreePath(path))?.string == value
            }
    }
}
