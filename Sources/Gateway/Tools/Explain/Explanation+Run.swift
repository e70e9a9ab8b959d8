import Basics
import HTTP
import HTTPClient
package import Promises
package import Reactor

/// `explain --run`: the request is sent, and its calls and the response are shown.
extension Explanation {
    /// What happened to the request that was sent.
    package struct Run {
        package let text: String
        package let json: String
        /// Whether it reached the calls of an endpoint, as far as its credential decides that.
        package let isAuthenticated: Bool
    }

    /// Sends the request through the gateway and describes the calls and the response.
    ///
    /// The promise is fulfilled after the response, when all connections have been closed.
    package func sendRequest(on loop: any Loop) -> LocalPromise<Run> {
        let targets = SentTargets()
        let pools = ConnectionPools(loop: loop)
        let gateway = GatewayService(
            plan, endpointNumbers: Array(plan.endpoints.indices), pools: pools, loop: loop,
            targets: targets)
        let id = head.fields[.requestID].flatMap { RequestID(client: $0.bytes.span) }
        let context = RequestContext(
            ExchangeStart(
                id: id ?? RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
                local: loop.local, began: loop.now, client: "127.0.0.1:0"))
        let request = Request(head: head, body: .bytes(body ?? Bytes()))
        return gateway.handleRequest(request, context).then { response in
            Self.collected(response, on: loop.local)
        }.then { response in
            context.record.end(at: loop.now)
            gateway.stopBackgroundWork()
            let recorded = RecordedResponse(
                plan: plan, endpoint: endpoint, method: head.method, response: response,
                responseFields: context.responseFields, began: context.began,
                record: context.record, targets: targets)
            return pools.close().map {
                withExtendedLifetime(gateway) {
                    Run(
                        text: text(with: recorded, context), json: json(with: recorded, context),
                        isAuthenticated: context.refusal == nil)
                }
            }
        }
    }

    /// A response in parts as a whole, with the calls that go on after its head.
    private static func collected(
        _ response: Response, on local: LocalContext
    ) -> LocalPromise<Response> {
        guard case .stream(let source) = response.body, source.worksForRequest else {
            return local.value(response)
        }
        return response.body.collect(upTo: SizeLimits.body, on: local).map { bytes in
            Response(status: response.status, fields: response.fields, body: bytes)
        }
    }

    private func text(with recorded: RecordedResponse, _ context: RequestContext) -> String {
        if let lines = entry.lines { return lines.text }
        guard let endpoint else { return text + recorded.text }
        var lines = ExplainedRequest(endpoint, head).lines
        lines += AuthFeature.conditions(endpoint, of: plan, head)
        if let caller = context.caller { lines.append(caller.explained) }
        if let reason = context.refusal {
            lines.append("refused   \(recorded.response.status.code): \(reason.name)")
            return lines.text + recorded.text
        }
        do throws(RefusedRequest) {
            lines += recorded.waterfall(try calls(of: endpoint).all)
        } catch {
            lines += error.explained
        }
        return lines.text + recorded.text
    }
}

extension Explanation {
    private func json(with recorded: RecordedResponse, _ context: RequestContext) -> String {
        var others: [(String, JSONTree)] = []
        if let caller = context.caller?.name { others.append(("caller", .text(String(caller)))) }
        if let reason = context.refusal { others.append(("refused", .text("\(reason.name)"))) }
        return json(
            isAccepted: isAccepted && context.refusal == nil,
            calls: { $0.members + recorded.members(of: $0) },
            and: others + [("response", recorded.tree)])
    }
}

extension Caller {
    /// `caller    ann, accepted by partners, with read write; plan gold`
    var explained: String {
        let name = name.map { String($0) } ?? "without a name"
        var line = "caller    \(name), accepted by \(String(authenticator))"
        if !scopes.isEmpty {
            line += ", with \(scopes.map { String($0) }.joined(separator: " "))"
        }
        if let plan { line += "; plan \(String(plan))" }
        return line
    }
}

/// The response to a request that was sent, and its calls over time, as the request's record has them.
struct RecordedResponse {
    let plan: Plan
    let endpoint: EndpointPlan?
    let method: Method
    let response: Response
    /// Those that the server adds.
    let responseFields: Fields
    let began: Instant
    /// Complete.
    let record: RequestRecord
    let targets: SentTargets

    private var duration: Duration { record.duration ?? .zero }

    /// The head, and the body as it is: it ends the output.
    var text: String {
        var head = "answer    \(response.status.code) after \(duration.millisecondsText)"
        for name in [
            FieldName.gatewayComplete, .retryAfter, .serverTiming, .wwwAuthenticate, .rateLimit,
        ] {
            guard let value = response.fields[name] ?? responseFields[name] else { continue }
            head += "  \(name): \(value)"
        }
        let body = response.completeBody
        guard !body.isEmpty, method != .head else { return [head].text }
        return [head].text + "body      \(String(body))\n"
    }

    var tree: JSONTree {
        let fields = response.fields.map { JSONTree.texts(["\($0.name)", "\($0.value)"]) }
        return .object([
            ("status", .raw("\(response.status.code)")), ("duration_ms", .milliseconds(duration)),
            ("headers", .list(fields)), ("body", .text(String(response.completeBody))),
        ])
    }

    /// How a call ended; nothing for one that was not sent.
    func members(of call: ExplainedCall) -> [(String, JSONTree)] {
        guard let recorded = record.call(call.plan.index),
            let duration = recorded.ended.since(recorded.began)
        else { return [] }
        let requests = record.attempts.count {
            Int($0.call) == call.plan.index && $0.permitted.hasHappened
        }
        return [
            ("outcome", .text(outcome(of: call.plan, recorded))),
            ("began_ms", .milliseconds(instant(recorded.began) - began)),
            ("duration_ms", .milliseconds(duration)), ("requests", .raw("\(requests)")),
        ]
    }

    /// One line for each call: its start, its request, its end, and a bar.
    func waterfall(_ calls: [ExplainedCall]) -> [String] {
        TextTable(calls.map(row), gaps: [2, 2, 3, 3, 2]).lines
    }

    private func row(_ call: ExplainedCall) -> [String] {
        guard let recorded = record.call(call.plan.index),
            let duration = recorded.ended.since(recorded.began)
        else {
            return ["     -", call.title, reasonNotSent(call), "", "", ""]
        }
        let attempts = record.attempts.filter { Int($0.call) == call.plan.index }
        let requests = attempts.filter { $0.permitted.hasHappened }
        let list = record.lists.first { $0.call == call.plan.index }
        return [
            column(recorded.began), call.title, line(of: call.plan, requests),
            outcome(of: call.plan, recorded)
                + (list.map(text)
                    ?? (requests.count > 1 ? ", \(requests.count) requests" : "")),
            bar(recorded, marks: list == nil ? requests.dropFirst().map(\.permitted) : []),
            duration.millisecondsText,
        ]
    }

    /// `, 47 requests for 50 elements, 2 failed, 1.0ms to 9.1ms, median 3.2ms`
    private func text(of list: ListRecord) -> String {
        let times = ListTimes(of: list.call, in: record.attempts)
        var text = ", \(times.requests) request\(times.requests == 1 ? "" : "s")"
        text += " for \(list.elements) element\(list.elements == 1 ? "" : "s")"
        if list.failed > 0 { text += ", \(list.failed) failed" }
        guard times.requests > 0 else { return text }
        let (shortest, median, longest) = (
            Duration.microseconds(times.shortest), Duration.microseconds(times.median),
            Duration.microseconds(times.longest)
        )
        return text
            + ", \(shortest.millisecondsText) to \(longest.millisecondsText), median \(median.millisecondsText)"
    }

    private func reasonNotSent(_ call: ExplainedCall) -> String {
        guard call.isSent else { return call.row[2] }
        if let condition = call.plan.condition,
            record.call(call.plan.index)?.outcome == CallRecord.Outcome.none
        {
            return "left out: 'when' does not hold: \(condition.text)"
        }
        return "skipped: a call that it waits for failed"
    }

    /// The request, to the host that it was sent to last.
    private func line(of call: CallPlan, _ requests: [AttemptRecord]) -> String {
        let hosts = plan.backends[call.backend].hosts
        guard let target = targets[call.index], let host = requests.last?.host,
            hosts.indices.contains(Int(host))
        else { return "nothing was sent" }
        return "\(call.method) \(hosts[Int(host)].shownURL)\(target)"
    }

    /// The status, and the kind of failure where it is one.
    private func outcome(of call: CallPlan, _ recorded: CallRecord) -> String {
        let status = recorded.decidingAttempt.map { record.attempts[Int($0)].status } ?? 0
        switch recorded.outcome {
        case .none, .failed(.cancelled): return "cancelled"
        case .succeeded: return "\(status)"
        case .failed(let kind):
            let name = kind.facts.name
            if kind.comesWithResponse { return "\(status) \(name)" }
            return name + (limit(of: kind, call, recorded).map { " after \($0.spelled)" } ?? "")
        }
    }

    /// The limit that a call exceeded.
    private func limit(
        of kind: CallFailureKind, _ call: CallPlan, _ recorded: CallRecord
    ) -> Duration? {
        switch kind {
        case .connectionTimeout: return plan.backends[call.backend].connectTimeout
        case .responseTimeout:
            guard let endpoint, let began = recorded.began.since(Moment(microseconds: 0)) else {
                return nil
            }
            return began + call.timeout <= endpoint.deadline ? call.timeout : endpoint.deadline
        default: return nil
        }
    }

    /// `#` while the call was in progress, and a digit for each request after the first.
    private func bar(_ recorded: CallRecord, marks: [Moment]) -> String {
        WaterfallBars(
            from: began, to: began + duration, scale: 30, columns: 30, of: "#"
        ).bar(from: instant(recorded.began), to: instant(recorded.ended), marks: marks.map(instant))
    }

    private func instant(_ moment: Moment) -> Instant {
        began + (moment.since(Moment(microseconds: 0)) ?? .zero)
    }

    private func column(_ moment: Moment) -> String {
        let text = (instant(moment) - began).millisecondsText
        return String(repeating: " ", count: max(0, 7 - text.count)) + text
    }
}

extension CallFailureKind {
    /// Whether the failure comes with a response, which has a status.
    fileprivate var comesWithResponse: Bool {
        switch self {
        case .unexpectedStatus, .responseContentCoding, .invalidJSON, .invalidShape, .collision:
            true
        default: false
        }
    }
}
