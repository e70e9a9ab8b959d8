import Basics
import Gateway
import HTTP
import HTTPClient
package import Promises
package import Reactor

/// `explain --run`: the request is sent, and its calls and the response are shown.
extension Explanation {
    /// Sends the request through the gateway and describes the calls and the response.
    ///
    /// The promise is fulfilled after the response, when all connections have been closed.
    package func sendRequest(on loop: any Loop) -> LocalPromise<String> {
        let recorder = CallRecorder(loop: loop)
        let client = Client(loop: loop)
        let gateway = GatewayService(
            plan, slots: Array(plan.endpoints.indices), client: client, loop: loop,
            recorder: recorder)
        let id = head.fields[.requestID].flatMap { RequestID(client: $0.bytes.span) }
        let exchange = Exchange(
            id: id ?? RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
            local: loop.local, began: loop.now, client: "127.0.0.1:0")
        let request = Request(head: head, body: .bytes(body ?? Bytes()))
        return gateway.handleRequest(request, exchange).then { response in
            let recorded = RecordedResponse(
                method: head.method, response: response, began: exchange.began, ended: loop.now,
                recorder: recorder)
            // Cancelled calls settle while the connections close.
            return client.close().map { withExtendedLifetime(gateway) { text(with: recorded) } }
        }
    }

    private func text(with recorded: RecordedResponse) -> String {
        guard let endpoint else { return text + recorded.lines.map { $0 + "\n" }.joined() }
        var lines = ExplainedRequest(endpoint, head).lines
        do throws(RefusedRequest) {
            lines += recorded.waterfall(try calls(of: endpoint))
        } catch {
            lines += error.explained
        }
        return (lines + recorded.lines).map { $0 + "\n" }.joined()
    }
}

/// The response to a request that was sent, and its calls over time.
struct RecordedResponse {
    let method: Method
    let response: Response
    let began: Instant
    let ended: Instant
    let recorder: CallRecorder

    var lines: [String] {
        var head = "answer    \(response.status.code) after \((ended - began).millisecondsText)"
        for name in [FieldName.gatewayComplete, .retryAfter, .serverTiming] {
            guard let value = response.fields[name] else { continue }
            head += "  \(name): \(value)"
        }
        let body = response.completeBody
        guard !body.isEmpty, method != .head else { return [head] }
        return [head, "body      \(String(body))"]
    }

    /// One line for each call: its start, its request, its end, and a bar.
    func waterfall(_ calls: [ExplainedCall]) -> [String] {
        TextTable(calls.map(row), gaps: [2, 2, 3, 3, 2]).lines
    }

    private func row(_ call: ExplainedCall) -> [String] {
        guard let recorded = recorder[call.plan.index] else {
            let reason = call.isSent ? "skipped: a call that it waits for failed" : call.row[2]
            return ["     -", call.title, reason, "", "", ""]
        }
        let end = recorded.ended ?? ended
        let count = recorded.requests.count
        return [
            Self.column(recorded.began - began), call.title,
            recorded.url.isEmpty ? "nothing was sent" : "\(call.plan.method) \(recorded.url)",
            (recorded.outcome ?? "cancelled") + (count > 1 ? ", \(count) requests" : ""),
            bar(recorded, until: end), (end - recorded.began).millisecondsText,
        ]
    }

    /// `#` while the call was in progress, and a digit for each request after the first.
    private func bar(_ recorded: CallRecorder.CallRecord, until end: Instant) -> String {
        WaterfallBars(from: began, to: ended, scale: 30, columns: 30, of: "#")
            .bar(from: recorded.began, to: end, marks: Array(recorded.requests.dropFirst()))
    }

    private static func column(_ duration: Duration) -> String {
        let text = duration.millisecondsText
        return String(repeating: " ", count: max(0, 7 - text.count)) + text
    }
}
