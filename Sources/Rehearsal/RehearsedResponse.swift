/// Draws the behaviour of a simulated backend for one request: a response after its latency, or a fault.
struct RehearsedResponse {
    let random: RandomSource
    let faults: [FaultRule]
    /// In milliseconds; nil for the default.
    let latency: ClosedRange<Int>?
    /// The body of a good response.
    let tree: Tree

    func script() -> ScriptedResponse {
        var script = responding(200)
        script.delay = random.number(latency ?? defaultLatency)
        for fault in faults where random.chance(fault.share) { apply(fault.kind, to: &script) }
        return script
    }

    /// Nine in ten responses take 2 to 12 ms, the others up to 60 ms.
    private var defaultLatency: ClosedRange<Int> { random.chance(0.9) ? 2...12 : 12...60 }

    private func responding(_ status: Int, _ text: String? = nil) -> ScriptedResponse {
        var script = ScriptedResponse()
        let isBare = status == 204 || status == 304
        let body = Array((isBare ? "" : text ?? tree.written).utf8)
        let length = isBare ? "" : "Content-Length: \(body.count)\r\n"
        let head =
            "HTTP/1.1 \(status) Simulated\r\nContent-Type: application/json\r\n\(length)\r\n"
        script.pieces = [Array(head.utf8) + body]
        script.responseLength = script.byteCount
        script.outcome = .response(status: status, body: body, tree: tree)
        return script
    }

    private func apply(_ kind: FaultRule.Kind, to script: inout ScriptedResponse) {
        let delay = script.delay
        switch kind {
        case .timeout: script = ScriptedResponse()
        case .slow(let milliseconds): script.delay += milliseconds
        case .close: script = ending(.closes, sending: [])
        case .reset: script = ending(.resets, sending: [])
        // Happens before the request: the network refuses the connection.
        case .refuse: break
        case .cut: script = ending(.closes, sending: script.pieces.map { Array($0.dropLast()) })
        case .garbage: script = responding(200, "<html>oops</html>")
        case .status(let status): script = responding(status)
        }
        script.delay = max(delay, script.delay)
    }

    private func ending(_ ending: ScriptedResponse.Ending, sending pieces: [[UInt8]])
        -> ScriptedResponse
    {
        var script = ScriptedResponse()
        script.pieces = pieces
        script.ending = ending
        script.outcome = .fails(pieces.isEmpty ? .connectionTerminated : .responseIncomplete)
        return script
    }
}
