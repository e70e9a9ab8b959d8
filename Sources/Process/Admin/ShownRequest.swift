import Assembly
import Basics
import Gateway
import HTTP
import JSONText

/// A recorded request with its names, as JSON. Requests of endpoints with `min_duration` show no times.
struct ShownRequest {
    private let entry: RecentEntry
    private let names: RecordedEndpoint
    private let worker: Int
    /// When its head was complete, since 1970.
    let unixMicroseconds: Int64

    init(_ entry: RecentEntry, _ names: RecordedEndpoint, worker: Int, clocks: RecentRequestList) {
        self.entry = entry
        self.names = names
        self.worker = worker
        unixMicroseconds = (clocks.unixTime &- (clocks.now &- entry.began)) / 1_000
    }

    func append(to json: inout [UInt8]) {
        json.appendObject { json in
            json.append("key", text: "\(worker)-\(entry.sequence)")
            json.append("id", text: entry.id.description)
            appendTrace(to: &json)
            json.append("endpoint", text: names.name)
            json.append("at_ms", Int(unixMicroseconds / 1_000))
            json.append("status", Int(entry.status))
            json.append("outcome", literal: entry.outcome.name)
            append(reasons: entry.reasons, to: &json)
            if names.isPadded {
                json.append("times_hidden", flag: true)
            } else {
                appendTimes(&json)
            }
            json.append("calls", list: entry.calls.indices) { append(call: $1, to: &$0) }
        }
    }

    private func append(reasons: RetentionReason, to json: inout [UInt8]) {
        let names = RetentionReason.named.filter { reasons.contains($0.reason) }
        json.append("reasons", list: names) { json, named in
            json.append(UInt8(ascii: "\""))
            json.append(literal: named.name)
            json.append(UInt8(ascii: "\""))
        }
    }

    private func appendTrace(to json: inout [UInt8]) {
        json.append(key: "trace")
        json.append(UInt8(ascii: "\""))
        json.append(hex: entry.traceHigh)
        json.append(hex: entry.traceLow)
        json.append(UInt8(ascii: "\""))
    }

    private func appendTimes(_ json: inout [UInt8]) {
        append("ms", entry.ended, to: &json)
        json.append("own_ms", microseconds: Int(entry.own))
        json.append("receive_ms", microseconds: Int(entry.receiving))
        json.append("store_ms", microseconds: Int(entry.store))
        json.append("keys_ms", microseconds: Int(entry.keys))
        json.append("calls_ms", microseconds: Int(entry.calling))
        append("first_part_ms", entry.firstPart, to: &json)
    }

    /// Nothing for a moment that never came, and for an endpoint that hides its times.
    private func append(_ key: StaticString, _ moment: Moment, to json: inout [UInt8]) {
        guard !names.isPadded, moment.hasHappened else { return }
        json.append(key, microseconds: Int(moment.microseconds))
    }

    // MARK: Calls

    private func append(call index: Int, to json: inout [UInt8]) {
        let call = entry.calls[index]
        json.appendObject { json in
            if names.calls.indices.contains(index) {
                json.append("name", text: names.calls[index].name)
                json.append("backend", text: names.calls[index].backend)
            }
            json.append("outcome", text: Self.name(of: call.outcome))
            if let cause = cause(of: index) { json.append("because_of", text: cause) }
            append(detailOf: index, nil, to: &json)
            append("began_ms", call.began, to: &json)
            append("ended_ms", call.ended, to: &json)
            if let list = entry.lists.first(where: { $0.call == index }) {
                append(list, to: &json)
            }
            let attempts = entry.attempts.indices.filter { entry.attempts[$0].call == index }
            json.append("attempts", list: attempts) { json, place in
                append(
                    entry.attempts[place], at: place, of: index,
                    isDeciding: place == call.decidingAttempt, to: &json)
            }
        }
    }

    private func append(_ list: RecentList, to json: inout [UInt8]) {
        json.append(key: "list")
        json.appendObject { json in
            json.append("elements", list.elements)
            if list.shared > 0 { json.append("shared", list.shared) }
            if list.truncated > 0 { json.append("truncated", list.truncated) }
            json.append("requests", list.requests)
            if list.failed > 0 { json.append("failed", list.failed) }
            guard !names.isPadded, list.requests > 0 else { return }
            json.append("min_ms", microseconds: Int(list.shortest))
            json.append("median_ms", microseconds: Int(list.median))
            json.append("max_ms", microseconds: Int(list.longest))
        }
    }

    /// The call whose failure ended this one, or left it without a value that it needs: for a call that was not made
    /// the first failed one at the start of the chain, for a cancelled call the last one that failed.
    private func cause(of index: Int) -> String? {
        guard names.calls.count == entry.calls.count else { return nil }
        switch entry.calls[index].outcome {
        case .none, .failed(.skipped):
            guard let needed = names.calls[index].needs.first(where: hasFailed) else { return nil }
            return cause(of: needed) ?? names.calls[needed].name
        // Else the client disconnected, or the other calls were enough.
        case .failed(.cancelled) where [.failed, .rejected].contains(entry.outcome):
            let failed = entry.calls.indices.filter(hasFailedItself)
            return failed.max {
                entry.calls[$0].ended.microseconds < entry.calls[$1].ended.microseconds
            }
            .map { names.calls[$0].name }
        case .succeeded, .failed: return nil
        }
    }

    private func hasFailed(_ call: Int) -> Bool {
        if case .failed = entry.calls[call].outcome { true } else { false }
    }

    private func hasFailedItself(_ call: Int) -> Bool {
        switch entry.calls[call].outcome {
        case .none, .succeeded, .failed(.skipped), .failed(.cancelled): false
        case .failed: true
        }
    }

    /// Why a call or one of its attempts failed; nothing where no reason was recorded.
    private func append(detailOf call: Int, _ attempt: Int?, to json: inout [UInt8]) {
        if let text = entry.details.text(ofCall: call, attempt: attempt) {
            json.append("detail", text: String(text))
        }
    }

    private func append(
        _ attempt: RecentEntry.Attempt, at place: Int, of call: Int, isDeciding: Bool,
        to json: inout [UInt8]
    ) {
        json.appendObject { json in
            json.append("cause", literal: Self.name(of: attempt.cause))
            if let host = host(of: attempt, call) { json.append("host", text: host) }
            json.append("outcome", text: Self.name(of: attempt.outcome))
            append(detailOf: call, place, to: &json)
            if attempt.status > 0 { json.append("status", Int(attempt.status)) }
            if attempt.sent.hasHappened {
                json.append("connection", literal: attempt.reusedConnection ? "reused" : "new")
            }
            if attempt.wasResent { json.append("sent_again", flag: true) }
            if isDeciding { json.append("decided", flag: true) }
            if attempt.bodyBytes > 0 { json.append("bytes", Int(attempt.bodyBytes)) }
            append("began_ms", attempt.began, to: &json)
            append("permitted_ms", attempt.permitted, to: &json)
            append("sent_ms", attempt.sent, to: &json)
            append("first_byte_ms", attempt.firstByte, to: &json)
            append("last_byte_ms", attempt.lastByte, to: &json)
            append("ended_ms", attempt.ended, to: &json)
        }
    }

    private func host(of attempt: RecentEntry.Attempt, _ call: Int) -> String? {
        guard let host = attempt.host, names.calls.indices.contains(call),
            names.calls[call].hosts.indices.contains(host)
        else { return nil }
        return names.calls[call].hosts[host].description
    }

    private static func name(of outcome: CallRecord.Outcome) -> String {
        switch outcome {
        case .none: "not_made"
        case .succeeded: "ok"
        case .failed(let kind): "\(kind.facts.name)"
        }
    }

    private static func name(of outcome: AttemptRecord.Outcome) -> String {
        switch outcome {
        case .none: "open"
        case .answered: "answered"
        case .withdrawn: "withdrawn"
        case .failed(let kind): "\(kind.facts.name)"
        }
    }

    private static func name(of cause: AttemptRecord.Cause) -> StaticString {
        switch cause {
        case .first: "first"
        case .retry: "retry"
        case .hedge: "hedge"
        case .otherHost: "other_host"
        }
    }
}
