/// Draws the behaviour of a simulated backend for one request: a response after its latency, or a fault.
struct RehearsedResponse {
    let random: RandomSource
    let faults: [FaultRule]
    /// In milliseconds; nil for the default.
    let latency: ClosedRange<Int>?
    /// The body of a good response.
    let tree: Tree
    /// The body of a good response that is passed through in pieces; nil if it is `tree`.
    var stream: StreamedBody?

    func script() -> ScriptedResponse {
        var script = stream.map(streaming) ?? responding(200)
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

    private func streaming(_ stream: StreamedBody) -> ScriptedResponse {
        var script = ScriptedResponse()
        let head =
            "HTTP/1.1 200 Simulated\r\nContent-Type: application/octet-stream\r\n"
            + "Content-Length: \(stream.byteCount)\r\n\r\n"
        script.pieces = stream.sizes.map(StreamedBody.piece)
        script.pieces[0] = Array(head.utf8) + script.pieces[0]
        script.pauses = stream.pauses
        script.responseLength = script.byteCount
        script.outcome = .response(status: 200, body: [], tree: nil)
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
        case .cut: script = ending(.closes, sending: Self.cut(script.pieces), script.pauses)
        case .garbage: script = responding(200, "<html>oops</html>")
        case .status(let status): script = responding(status)
        }
        script.delay = max(delay, script.delay)
    }

    /// The first half of the pieces, without the last byte.
    private static func cut(_ pieces: [[UInt8]]) -> [[UInt8]] {
        var pieces = Array(pieces.prefix((pieces.count + 1) / 2))
        if let last = pieces.popLast() { pieces.append(Array(last.dropLast())) }
        return pieces
    }

    private func ending(
        _ ending: ScriptedResponse.Ending, sending pieces: [[UInt8]], _ pauses: [Int] = []
    ) -> ScriptedResponse {
        var script = ScriptedResponse()
        script.pieces = pieces
        script.pauses = pauses
        script.ending = ending
        script.outcome = .fails(pieces.isEmpty ? .connectionTerminated : .responseIncomplete)
        return script
    }
}
