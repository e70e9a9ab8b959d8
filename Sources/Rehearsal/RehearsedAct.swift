/// What a simulated backend does with one request: it responds after its latency, unless a fault is
/// to happen.
struct RehearsedAct {
    let dice: RandomSource
    let faults: [FaultRule]
    /// In milliseconds; nil for the usual one.
    let latency: ClosedRange<Int>?
    let answer: Tree

    func act() -> Act {
        var act = answering(200)
        act.delay = dice.number(latency ?? usualLatency)
        for fault in faults where dice.chance(fault.share) { apply(fault.kind, to: &act) }
        return act
    }

    /// Nine in ten responses are quick.
    private var usualLatency: ClosedRange<Int> { dice.chance(0.9) ? 2...12 : 12...60 }

    private func answering(_ status: Int, _ text: String? = nil) -> Act {
        var act = Act()
        let isBare = status == 204 || status == 304
        let body = Array((isBare ? "" : text ?? answer.written).utf8)
        let length = isBare ? "" : "Content-Length: \(body.count)\r\n"
        let head =
            "HTTP/1.1 \(status) Played\r\nContent-Type: application/json\r\n\(length)\r\n"
        act.pieces = [Array(head.utf8) + body]
        act.answerLength = act.byteCount
        act.outcome = .answer(status: status, body: body, tree: answer)
        return act
    }

    private func apply(_ kind: FaultRule.Kind, to act: inout Act) {
        let delay = act.delay
        switch kind {
        case .timeout: act = Act()
        case .slow(let milliseconds): act.delay += milliseconds
        case .close: act = ending(.closes, sending: [])
        case .reset: act = ending(.resets, sending: [])
        // Happens before a request: the network refuses the connection.
        case .refuse: break
        case .cut: act = ending(.closes, sending: act.pieces.map { Array($0.dropLast()) })
        case .garbage: act = answering(200, "<html>oops</html>")
        case .status(let status): act = answering(status)
        }
        act.delay = max(delay, act.delay)
    }

    private func ending(_ ending: Act.Ending, sending pieces: [[UInt8]]) -> Act {
        var act = Act()
        act.pieces = pieces
        act.ending = ending
        act.outcome = .fails(pieces.isEmpty ? .connectionTerminated : .responseIncomplete)
        return act
    }
}
