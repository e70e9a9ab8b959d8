import Rehearsal

/// Draws what a host does with a streamed request.
struct StreamResponseDraw {
    let random: RandomSource
    let rates: FaultRates
    let mark: String
    let ordinal: Int
    let head: PeerMessage
    let lengthMax: Int
    /// What the paths of the endpoint begin with at the host, with a slash at the end.
    let folder: String
    /// `http://127.0.0.1:7800`
    let origin: String

    /// The header of responses of hosts: the mark of the request, and the attempt.
    static let originHeader = "X-Origin"

    func script() -> StreamResponseScript {
        var script = StreamResponseScript()
        script.interim = interim
        script.trigger = random.pick([.end, .end, .head, .bytes(random.number(1...lengthMax))])
        script.delay =
            random.chance(max(rates[.slowAnswers], 0.1))
            ? random.number(1...1200) : random.pick([0, 0, 1, 10, 40])
        script.status = random.pick([200, 200, 200, 201, 404, 302, 204, 304, 500])
        if random.chance(rates[.badStatus]) { script.status = random.pick([500, 503, 502, 429]) }
        script.body = body()
        script.fields = fields(script)
        links(&script.fields)
        script.isHTTP10 = script.body.framing == .untilClose && random.chance(0.5)
        script.closesConnection = random.chance(0.1)
        script.idleLoss = random.maybe(rates[.idleLosses], random.number(0...40))
        if random.chance(rates[.drips] * 3) {
            script.reading = StreamBodyDraw(
                random: random.derived("reading"), lengthMax: lengthMax
            ).reading()
        }
        if let outcome { script.outcome = outcome }
        if head["Upgrade"] == "websocket", random.derived("upgrade").chance(0.8) {
            upgrade(&script)
        }
        return script
    }

    /// Switches to the protocol that the client wants, or to another one.
    private func upgrade(_ script: inout StreamResponseScript) {
        let random = random.derived("tunnel")
        script.upgrade = random.pick(["websocket", "websocket", "WebSocket", "websocket", "h2c"])
        script.trigger = .head
        script.closesConnection = false
        script.idleLoss = nil
        script.body = StreamBodyDraw(random: random, lengthMax: lengthMax).tunnel(
            rates, resets: .resetsMidBody)
    }

    private var outcome: StreamResponseScript.Outcome? {
        if random.chance(rates[.hangs]) { return .silent }
        if random.chance(rates[.closes]) { return .closes }
        if random.chance(rates[.resets]) { return .resets }
        return random.chance(rates[.malformed]) ? .malformed : nil
    }

    private var interim: [(status: Int, delay: Int)] {
        let random = random.derived("interim")
        var interim: [(status: Int, delay: Int)] = []
        if head["Expect"] != nil, random.chance(0.7) {
            interim.append((100, random.pick([0, 5, 300])))
        }
        if random.chance(max(rates[.oddAnswers], 0.1)) {
            interim += (0..<random.pick([1, 2, 17])).map { _ in (103, random.pick([0, 3])) }
        }
        return interim
    }

    private func body() -> BodyScript {
        let random = random.derived("body")
        var body = StreamBodyDraw(random: random, lengthMax: lengthMax).body()
        body.framing = random.pick([.length, .length, .chunked, .chunked, .untilClose])
        // With its last byte a body of known length is complete.
        body.length = max(1, body.length)
        let at = random.number(0...body.length - 1)
        if random.chance(rates[.truncations] * 2) { body.ending = .ends(at: at) }
        if random.chance(rates[.resetsMidBody] * 2) { body.ending = .resets(at: at) }
        if random.chance(rates[.stalls]) || random.chance(rates[.hangs]) {
            body.ending = .stalls(at: at)
        }
        if body.framing == .chunked, random.chance(rates[.malformed]) {
            body.ending = .malformed(at: at)
        }
        if body.framing == .chunked, random.chance(0.3) {
            body.trailers = [
                ("X-Trailer", mark), ("Content-Length", "7"), ("X-Forwarded-For", "1"),
            ]
        }
        return body
    }

    private func fields(_ script: StreamResponseScript) -> [(name: String, value: String)] {
        var fields = [
            (Self.originHeader, "\(mark)/\(ordinal)"), ("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),
            ("Set-Cookie", "a=\(mark)"), ("Set-Cookie", "b=\(mark)"),
        ]
        if random.chance(0.3) {
            fields += [("Connection", "X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=1")]
        }
        if random.chance(0.2) { fields += [("Proxy-Authenticate", "Basic"), ("Upgrade", "h2c")] }
        return fields
    }

    /// Adds a `Location`, and `Path` of cookies, inside and outside of the folder.
    private func links(_ fields: inout [(name: String, value: String)]) {
        let random = random.derived("links")
        let path = folder + random.pick(["", "a", "a/b%2Fc?x=1", "a?x=/../y"])
        let outside = [
            "/elsewhere\(path)", "\(folder.dropLast())x/a", "//127.0.0.1\(path)",
            "https://gateway.test\(path)", "\(folder)a/../../b", "a",
        ]
        if random.chance(0.4) {
            let places = [
                path, path, origin + path, "http://inner.test\(path)", random.pick(outside),
                random.pick(outside),
            ]
            fields.append(("Location", random.pick(places)))
        }
        guard random.chance(0.4) else { return }
        let scopes = [folder, folder + "a", String(folder.dropLast()), "/", "/elsewhere\(folder)"]
        let attributes = "; \(random.pick(["Path", "path"]))=\(random.pick(scopes)); HttpOnly"
        let name = random.pick(["c", "c", "c", "__Host-c"])
        fields.append(("Set-Cookie", "\(name)=\(mark)\(attributes)"))
    }
}
