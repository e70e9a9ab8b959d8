import Basics
import Reactor
import Rehearsal
import SimReactor

/// A connection of a simulated client of endpoints with `proxy`.
struct StreamConnection {
    let number: Int
    /// Microseconds since the run began.
    let start: Int
    /// Index in `listeners`; nil for the first listener.
    let listener: Int?
    /// The client's part of the handshake; nil without TLS.
    let hello: SimHello?
    let requests: [(request: ScriptedRequest, script: StreamScript)]
}

/// Draws the connections of clients that send streamed requests.
struct StreamDraw {
    let random: RandomSource
    let rates: FaultRates
    let config: DrawnConfig
    /// The most bytes of a body: less where the network is slow.
    let lengthMax: Int

    /// - Parameters:
    ///   - first: the number of the first connection
    ///   - firstRequest: the number of the first request
    func connections(first: Int, firstRequest: Int) -> [StreamConnection] {
        let endpoints = config.endpoints.filter { $0.proxy != nil && $0.isMain }
        guard !endpoints.isEmpty else { return [] }
        var number = firstRequest
        return (0..<random.number(2...8)).map { index in
            let random = random.derived("connection", index)
            let requests = (0..<random.pick([1, 1, 2, 3, 4])).map { place in
                defer { number += 1 }
                let random = random.derived("request", place)
                return exchange(number, random.pick(endpoints), random.derived("exchange"))
            }
            let listener = listener(random.derived("listener"))
            let hello =
                listener?.drawn.tls == nil
                ? nil : ListenerDraw(random: random.derived("hello")).hello(rates)
            return StreamConnection(
                number: first + index, start: random.number(0...300_000),
                listener: listener?.index, hello: hello,
                requests: requests.map { exchange in
                    (adapt(exchange.request, to: listener, hello), exchange.script)
                })
        }
    }

    private func listener(_ random: RandomSource) -> (index: Int, drawn: DrawnListener)? {
        guard !config.listeners.isEmpty, random.chance(0.7) else { return nil }
        let index = random.number(0...config.listeners.count - 1)
        return (index, config.listeners[index])
    }

    /// The request with what its connection adds.
    private func adapt(
        _ request: ScriptedRequest, to listener: (index: Int, drawn: DrawnListener)?,
        _ hello: SimHello?
    ) -> ScriptedRequest {
        guard let (index, listener) = listener else { return request }
        var request = request
        request.listener = index
        // Nothing is served: no endpoint refuses it.
        if listener.redirects || listener.tls != nil && hello == nil { request.endpoint = nil }
        if let tls = listener.tls, let hello, let session = tls.policy.session(for: hello) {
            request.isSecure = true
            request.identity = session.identity?.name
        }
        return request
    }

    private func exchange(
        _ number: Int, _ endpoint: DrawnEndpoint, _ random: RandomSource
    ) -> (request: ScriptedRequest, script: StreamScript) {
        let draw = StreamRequestDraw(
            random: random, rates: rates, config: config, endpoint: endpoint, lengthMax: lengthMax)
        return draw.exchange(number)
    }
}

/// Draws one streamed request, and what its client does.
struct StreamRequestDraw {
    let random: RandomSource
    let rates: FaultRates
    let config: DrawnConfig
    let endpoint: DrawnEndpoint
    let lengthMax: Int

    func exchange(_ number: Int) -> (request: ScriptedRequest, script: StreamScript) {
        var request = ScriptedRequest(
            number: number, method: method, endpoint: endpoint.index)
        request.target = endpoint.path + rest
        request.query = random.maybe(0.3, [("q", random.pick(["1", "a b", "&="]))]) ?? []
        var script = StreamScript()
        if request.method != "GET", request.method != "HEAD" { script.upload = upload() }
        let hasContent = script.upload.length > 0 || script.upload.framing == .chunked
        request.expectsContinue =
            script.upload.framing != .none && hasContent && random.chance(0.2)
        script.uploadDelay = random.chance(0.3) ? random.pick([0, 1, 20, 150]) : 0
        script.reading = reading(random.derived("reading"))
        script.leaving = leaving(random.derived("leaving"))
        request.headers = headers + script.upload.fields
        if request.method == "GET", endpoint.proxy?.upgrades == true, random.chance(0.7) {
            upgrade(&request, &script)
        }
        // Nothing follows the head.
        if script.upload.framing == .length, script.upload.length == 0 {
            script.upload = BodyScript()
        }
        request.pause = random.pick([0, 0, 1, 10, 80])
        RouteDraw(random: random.derived("route")).complete(&request, config)
        EntryDraw(random: random.derived("entry")).complete(&request, asPreflight: false)
        if !config.rateLimits.isEmpty {
            RateLimitDraw(random: random.derived("quota")).complete(&request)
        }
        AuthDraw(random: random.derived("auth")).complete(
            &request, config.endpoint(of: request) ?? endpoint)
        return (request, script)
    }

    /// Asks to switch to another protocol.
    private func upgrade(_ request: inout ScriptedRequest, _ script: inout StreamScript) {
        request.headers.removeAll { ["Connection", "Upgrade"].contains($0.name) }
        request.headers += [
            ("Connection", random.pick(["Upgrade", "keep-alive, Upgrade", "X-Hop, Upgrade"])),
            ("Upgrade", "websocket"), ("Sec-WebSocket-Key", "k\(request.number)"),
        ]
        script.upgrades = true
        script.tunnel = StreamBodyDraw(
            random: random.derived("tunnel"), lengthMax: lengthMax
        ).tunnel(rates, resets: .vanishing)
    }

    private var method: String {
        switch endpoint.method {
        case DrawnEndpoint.anyMethod:
            random.pick(["GET", "GET", "HEAD", "POST", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
        case "GET": random.chance(0.1) ? "HEAD" : "GET"
        default: endpoint.method
        }
    }

    /// Behind the path of the endpoint, as it is sent.
    private var rest: String {
        guard let proxy = endpoint.proxy, proxy.hasRest else { return "" }
        let hostile = random.derived("hostile")
        if proxy.hasProtectedFolder, hostile.chance(0.3) { return hostile.pick(Self.hostileRests) }
        return random.derived("rest").pick([
            "/", "/a", "/a/b%2Fc", "/a//b", "/%25/%C3%A9", "/x;y=1/z%20", "/...",
            random.chance(rates[.badRequests] * 3)
                ? random.pick(["/../x", "/a/%2e%2E/b", "/a\\b", "/%00", "/..;/a"]) : "/plain",
        ])
    }

    /// Those that all servers read alike.
    static let usualRests = ["/", "/a", "/%25/%C3%A9", "/plain"]

    /// Spellings by which a client could reach the protected folder at some server.
    private static let hostileRests = [
        "//safe/x", "/%2Fsafe/x", "/safe%2Fx", "/;/safe/x", "/safe;v=1/x", "/safe;/x", "/safe%3B/x",
        "/safe%20/x", "/%20safe/x", "/safe%09/x", "/safe./x", "/safe%252Fx", "/%2573afe/x",
        "/safe%3F/x",
        "/%C0%AFsafe/x", "/%EF%BC%8Fsafe/x", "/SAFE/x", "/Safe", "/safe", "/safe.json",
        "/a/..;/safe/x",
        "/safe%00/x",
    ]

    private var headers: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        func add(_ probability: Double, _ name: String, _ value: String) {
            if random.chance(probability) { headers.append((name, value)) }
        }
        add(0.5, "X-User", "ann")
        add(0.3, "X-Tenant", "t1")
        add(0.4, "X-Dropped", "1")
        add(0.3, "X-Set", "by the client")
        add(0.4, "TE", "trailers")
        add(0.3, "Keep-Alive", "timeout=5")
        add(0.3, "Proxy-Authorization", "Basic eDp5")
        if random.chance(0.3) {
            headers += [("Connection", "X-Hop, X-Other"), ("X-Hop", "1"), ("x-other", "2")]
        }
        add(0.2, "Upgrade", "h2c")
        add(0.2, "Client-Cert", ":AAAA:")
        let aliases = random.derived("aliases")
        if aliases.chance(0.3) {
            headers += aliases.some(
                [
                    ("X_User", "eve"), ("Client_Cert", ":EVE:"), ("X_Forwarded-For", "6.6.6.6"),
                    ("X_Set", "eve"), ("Proxy", "http://eve"), ("X_Key", "eve"), ("X_Any", "eve"),
                ], 0.5)
        }
        add(0.2, "Forwarded", "for=203.0.113.9")
        add(0.3, "Cookie", "a=1; b=2")
        add(0.3, "Accept-Encoding", "gzip")
        return headers
    }

    // MARK: Bodies

    private func upload() -> BodyScript {
        let random = random.derived("upload")
        var body = StreamBodyDraw(random: random, lengthMax: lengthMax).body()
        guard random.chance(0.85) else { return BodyScript() }
        if random.chance(0.1) { body.length = 0 }
        body.framing = random.chance(0.5) ? .length : .chunked
        // With its last byte a body of known length is complete.
        guard body.length > 0 else { return body }
        let at = random.number(0...body.length - 1)
        if random.chance(rates[.slowRequests] * 2) { body.ending = .stalls(at: at) }
        if random.chance(rates[.halfCloses] * 2) { body.ending = .ends(at: at) }
        if random.chance(rates[.vanishing] * 2) { body.ending = .resets(at: at) }
        if random.chance(rates[.badRequests]), body.framing == .chunked {
            body.ending = .malformed(at: at)
        }
        return body
    }

    private func reading(_ random: RandomSource) -> ReadingScript {
        guard random.chance(rates[.slowReaders] * 3) else { return ReadingScript() }
        return StreamBodyDraw(random: random, lengthMax: lengthMax).reading()
    }

    private func leaving(_ random: RandomSource) -> StreamScript.Leaving? {
        guard random.chance(rates[.vanishing] * 3) else { return nil }
        return StreamScript.Leaving(
            when: random.chance(0.5)
                ? .after(random.pick([0, 1, 10, 60, 300, 900]))
                : .receiving(random.number(1...lengthMax / 2)),
            kind: random.pick([.closes, .resets, .halfCloses]))
    }
}

/// Draws the sizes and the rhythm of bodies, and how they are read.
struct StreamBodyDraw {
    let random: RandomSource
    let lengthMax: Int

    func body() -> BodyScript {
        var body = BodyScript()
        body.length = random.pick([
            0, 1, random.number(1...200), random.number(1...min(20_000, lengthMax)),
            random.number(1...min(20_000, lengthMax)), random.number(1...lengthMax),
            lengthMax,
        ])
        body.pieceMax = random.pick([1, 100, 3000, 16_000])
        body.pieceMax = max(body.pieceMax, body.length / 60)
        body.pause = random.pick([0, 0, 0, 1, 10])
        body.longPause = random.maybe(
            0.2,
            (at: random.number(0...max(0, body.length)), milliseconds: random.number(10...700)))
        return body
    }

    /// What one side sends in a tunnel.
    func tunnel(_ rates: FaultRates, resets: Fault) -> BodyScript {
        var body = body()
        body.framing = .raw
        let at = random.number(0...body.length)
        if random.chance(max(0.2, rates[.slowRequests] * 2)) { body.ending = .stalls(at: at) }
        if random.chance(rates[resets] * 2) { body.ending = .resets(at: at) }
        return body
    }

    func reading() -> ReadingScript {
        var reading = ReadingScript()
        var after = 0
        for _ in 0..<random.number(1...3) {
            after += random.number(0...lengthMax / 3)
            let isLast = random.chance(0.3)
            reading.pauses.append((after, isLast ? nil : random.number(1...600)))
            if isLast { break }
        }
        return reading
    }
}
