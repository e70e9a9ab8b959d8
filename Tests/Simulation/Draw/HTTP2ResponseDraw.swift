import Rehearsal

/// Draws the behaviour of a host with HTTP/2 for one request: the responses of `ResponseDraw`, and what only
/// a stream or a shared connection can have.
struct HTTP2ResponseDraw {
    let base: ResponseDraw

    private var random: RandomSource { base.random }
    private var rates: FaultRates { base.rates }

    /// Draws the behaviour for a call.
    func script() -> ScriptedResponse {
        let script =
            base.isFailing ? failing() : broken() ?? wrong() ?? complete(200, base.tree())
        return timed(script)
    }

    /// Draws the behaviour for a health check.
    func healthScript() -> ScriptedResponse {
        if base.isFailing { return timed(failing()) }
        let status =
            random.chance(rates[.badStatus] * 2)
            ? random.pick([301, 404, 500, 503]) : random.pick([200, 200, 204])
        return timed(broken() ?? complete(status, base.tree()))
    }

    private func timed(_ script: ScriptedResponse) -> ScriptedResponse {
        var script = script
        script.delay = random.pick([0, 0, 0, 1, 3, 10])
        if random.chance(rates[.slowAnswers]) { script.delay = random.number(20...600) }
        guard var http2 = script.http2 else { return script }
        if random.chance(rates[.drips]) {
            let bytes = http2.pieces.flatMap { $0 }
            let size = max(1, bytes.count / random.number(2...6))
            http2.pieces = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            script.gap = random.number(0...40)
        }
        if http2.ending == .endsStream, random.chance(rates[.idleLosses]) {
            http2.idleEvent = ScriptedResponse.IdleEvent(
                delay: random.number(0...150), kind: random.pick([.closes, .resets, .sendsData]))
        }
        if http2.ending == .endsStream, random.chance(rates[.shutdowns]) {
            http2.shutdown = random.pick([
                .graceful(after: random.number(0...60)), .graceful(after: random.number(0...60)),
                .last, .excluding,
            ])
            if http2.shutdown == .excluding { script.outcome = .fails(.connectionTerminated) }
        }
        script.http2 = http2
        return script
    }

    // MARK: A missing or incomplete response

    private func scripted(
        _ outcome: ScriptedResponse.Outcome, _ ending: HTTP2Response.Ending,
        heads: [[HTTP2Response.Field]] = [], pieces: [[UInt8]] = []
    ) -> ScriptedResponse {
        var script = ScriptedResponse()
        var http2 = HTTP2Response()
        http2.heads = heads
        http2.pieces = pieces
        http2.ending = ending
        script.outcome = outcome
        script.http2 = http2
        return script
    }

    private func failing() -> ScriptedResponse {
        if random.chance(0.5) { return complete(random.pick([500, 503]), base.tree()) }
        return scripted(.fails(.connectionTerminated), .resets(randomCode))
    }

    private var randomCode: Int {
        random.pick([PeerCode.cancel, .internalError, .protocolError, .noError]).rawValue
    }

    private func broken() -> ScriptedResponse? {
        let terminated = ScriptedResponse.Outcome.fails(.connectionTerminated)
        if random.chance(rates[.hangs]) { return scripted(.nothing, .stalls) }
        if random.chance(rates[.closes]) { return scripted(terminated, .closesConnection) }
        if random.chance(rates[.resets]) { return scripted(terminated, .resetsConnection) }
        if random.chance(rates[.refusedStreams]) {
            return scripted(
                terminated, random.pick([.refuses, .refuses, .refuses, .enhanceYourCalm]))
        }
        if random.chance(rates[.frozenHosts]) { return scripted(.nothing, .freezes) }
        if random.chance(rates[.resetsMidHead]) { return scripted(terminated, .resets(randomCode)) }
        let incomplete = ScriptedResponse.Outcome.fails(.responseIncomplete)
        let body = base.isResponseToHead ? [] : Array(base.tree().written.utf8)
        // Without a body a response is complete with its head.
        guard !body.isEmpty else { return nil }
        let part = [Array(body[..<random.number(0...body.count - 1)])]
        let head = [fields(200) + length(body.count)]
        if random.chance(rates[.resetsMidBody]) {
            return scripted(incomplete, .resets(randomCode), heads: head, pieces: part)
        }
        if random.chance(rates[.truncations]) {
            return scripted(
                incomplete, random.pick([.closesConnection, .resetsConnection]), heads: head,
                pieces: part)
        }
        return nil
    }

    // MARK: A wrong response

    private func wrong() -> ScriptedResponse? {
        if random.chance(rates[.badStatus]) {
            return complete(
                random.pick([301, 302, 400, 401, 404, 404, 410, 429, 500, 502, 503, 204, 304]),
                base.tree())
        }
        if random.chance(rates[.malformed]) { return malformed() }
        guard !base.isResponseToHead else { return nil }
        if random.chance(rates[.badJSON]) { return complete(200, base.badJSON(), nil) }
        if random.chance(rates[.badShape]) { return complete(200, base.badTree()) }
        if random.chance(rates[.wrongLengths]) { return wrongLength() }
        if random.chance(rates[.hugeAnswers]) { return huge() }
        return nil
    }

    private func malformed() -> ScriptedResponse {
        let ok: [HTTP2Response.Field] = [(":status", "200")]
        let heads: [[HTTP2Response.Field]] = [
            [("etag", "1")], ok + [("Upper", "1")], ok + [("connection", "close")],
            ok + [("transfer-encoding", "chunked")], ok + ok, ok + [("x", "a\0b")],
            [("x", "1")] + ok, [(":status", "20")], ok + [(":path", "/")],
            ok + [("content-length", "+2")], [],
        ]
        let head = random.pick(heads)
        return head.isEmpty
            ? scripted(.fails(.protocolError), .breaksConnection)
            : scripted(.fails(.protocolError), .stalls, heads: [head])
    }

    private func wrongLength() -> ScriptedResponse {
        let body = Array(base.tree().written.utf8)
        let stated =
            random.chance(0.5)
            ? body.count + random.number(1...50) : random.number(1...body.count - 1)
        return scripted(
            .fails(stated > base.responseMax ? .responseBodySize : .protocolError), .endsStream,
            heads: [fields(200) + length(stated)], pieces: [body])
    }

    private func huge() -> ScriptedResponse {
        let count = base.responseMax + random.number(1...200)
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: count)
        return random.chance(0.5)
            ? scripted(.fails(.responseBodySize), .stalls, heads: [fields(200) + length(count)])
            : scripted(.fails(.responseBodySize), .stalls, heads: [fields(200)], pieces: [body])
    }

    // MARK: A complete response

    private func complete(_ status: Int, _ tree: Tree) -> ScriptedResponse {
        let isLarge = random.derived("large").chance(0.08)
        guard isLarge || random.chance(rates[.oddAnswers]) else {
            return complete(status, Array(tree.written.utf8), tree)
        }
        switch isLarge ? 2 : random.number(0...2) {
        case 0: return complete(status, [], .null)
        case 1: return complete(status, Array(" \r\n\t\(tree.written)\n".utf8), tree)
        default:
            let large = large(tree)
            return complete(status, Array(large.written.utf8), large)
        }
    }

    /// With one more member, so that the body needs several windows.
    private func large(_ tree: Tree) -> Tree {
        guard case .object(var members) = tree else { return tree }
        let most = rates[.smallWindows] > 0 ? 2000 : 80_000
        let room = min(base.responseMax, most) - tree.written.utf8.count - 20
        guard room > 100 else { return tree }
        let filling = String(repeating: "z", count: random.number(100...room))
        members.append(Tree.Member(key: "filling", value: .text(filling)))
        return .object(members)
    }

    private func complete(_ status: Int, _ body: [UInt8], _ tree: Tree?) -> ScriptedResponse {
        let isBare = status == 204 || status == 304
        let content = isBare || base.isResponseToHead ? [] : body
        let isOdd = random.chance(rates[.oddAnswers])
        var heads = [fields(status)]
        if !isBare, !isOdd || random.chance(0.3) { heads[0] += length(body.count) }
        if isOdd, random.chance(0.5) {
            heads.insert([(":status", "103"), ("link", "</x>")], at: 0)
        }
        let outcome: ScriptedResponse.Outcome =
            content.count > base.responseMax
            ? .fails(.responseBodySize)
            : .response(
                status: status, body: content, tree: isBare || base.isResponseToHead ? .null : tree)
        let hasTrailers = isOdd && !content.isEmpty && random.chance(0.3)
        return scripted(
            outcome, hasTrailers ? .trailers : .endsStream, heads: heads,
            pieces: content.isEmpty ? [] : [content])
    }

    private func length(_ count: Int) -> [HTTP2Response.Field] {
        [("content-length", "\(count)")]
    }

    private func fields(_ status: Int) -> [HTTP2Response.Field] {
        var fields: [HTTP2Response.Field] = [
            (":status", "\(status)"), ("etag", "\"\(base.mark)\""),
            ("set-cookie", "a=\(base.mark)"), ("set-cookie", "b=\(base.mark)"),
        ]
        if status == 503 {
            fields.append(
                ("retry-after", random.pick(["0", "1", "-5", "9223372036854775807", "soon"])))
        }
        if status == 301 || status == 302 {
            fields.append(("location", "http://127.0.0.1:7000/elsewhere"))
        }
        return fields
    }
}
