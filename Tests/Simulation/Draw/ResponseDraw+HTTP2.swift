import Rehearsal

/// How a host sends a response over HTTP/2, and breaks the protocol.
extension ResponseDraw {
    func scripted(
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

    func fields(_ status: Int) -> [HTTP2Response.Field] {
        [(":status", "\(status)")] + plainFields(status)
    }

    /// - Parameter stated: what `content-length` states, mostly
    func framedHTTP2(
        _ status: Int, _ body: [UInt8], stated: Int?, isOdd: Bool
    ) -> ScriptedResponse {
        var heads = [fields(status)]
        if let stated, !isOdd || random.chance(0.3) { heads[0] += length(stated) }
        if isOdd, random.chance(0.5) {
            heads.insert([(":status", "103"), ("link", "</x>")], at: 0)
        }
        let hasTrailers = isOdd && !body.isEmpty && random.chance(0.3)
        return scripted(
            .nothing, hasTrailers ? .trailers : .endsStream, heads: heads,
            pieces: body.isEmpty ? [] : [body])
    }

    func malformedHTTP2() -> ScriptedResponse {
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

    func wrongLengthHTTP2() -> ScriptedResponse {
        let body = Array(tree().written.utf8)
        let stated =
            random.chance(0.5)
            ? body.count + random.number(1...50) : random.number(1...body.count - 1)
        return scripted(
            .fails(stated > responseMax ? .responseBodySize : .protocolError), .endsStream,
            heads: [fields(200) + length(stated)], pieces: [body])
    }
}
