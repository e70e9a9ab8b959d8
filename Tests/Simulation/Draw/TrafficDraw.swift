import Rehearsal

/// Draws the connections and requests of clients.
struct TrafficDraw {
    let random: RandomSource
    let rates: FaultRates
    let config: DrawnConfig
    /// The most connections, outside of bursts.
    var countMax = 6
    /// Most clients use HTTP/2.
    var hasHTTP2 = false

    func connections() -> [ScriptedConnection] {
        let isBurst = random.chance(rates[.bursts] * 2)
        let count = isBurst ? random.number(8...30) : random.number(1...countMax)
        let spread = isBurst ? 2_000 : random.pick([1_000, 50_000, 400_000])
        var number = 0
        return (0..<count).map { index in
            let random = random.derived("connection", index)
            let usesHTTP2 = hasHTTP2 && random.derived("http2").chance(0.7)
            let requests = (0..<(isBurst ? 1 : random.number(1...5))).map { place in
                number += 1
                return RequestDraw(
                    random: random.derived("request", place), rates: rates, config: config,
                    usesHTTP2: usesHTTP2
                )
                .request(number - 1, isFirst: place == 0)
            }
            return ScriptedConnection(
                number: index, start: random.number(0...spread), requests: requests,
                closesWhenDone: random.chance(0.6), usesHTTP2: usesHTTP2)
        }
    }
}

/// Draws one request: valid for an endpoint, unless a fault makes it invalid.
struct RequestDraw {
    let random: RandomSource
    let rates: FaultRates
    let config: DrawnConfig
    var usesHTTP2 = false

    func request(_ number: Int, isFirst: Bool) -> ScriptedRequest {
        let endpoint = random.pick(config.endpoints.filter { $0.proxy == nil && $0.isMain })
        var request = ScriptedRequest(
            number: number, method: endpoint.method, endpoint: endpoint.index)
        if endpoint.hasID { request.id = "\(random.number(1...999))" }
        request.query = query(endpoint)
        request.headers = headers(endpoint)
        if endpoint.method == "POST" || endpoint.method == "PUT" {
            let tags = random.derived("tags").pick(["", "", #","tags":["red",7]"#])
            request.body = #"{"user":"u\#(number)","mark":"r\#(number)"\#(tags)}"#
            request.isChunked = random.chance(0.2)
            request.expectsContinue = random.chance(0.1)
        } else if endpoint.method == "GET", random.chance(0.1) {
            request.method = "HEAD"
        }
        if random.chance(rates[.badRequests]) { invalidate(&request, endpoint) }
        request.isPipelined =
            !isFirst && random.chance(usesHTTP2 ? 0.7 : rates[.pipelining] * 3)
        request.pause = request.isPipelined ? 0 : random.pick([0, 0, 1, 5, 30, 120])
        if random.chance(rates[.slowRequests]) {
            request.stall = (Double(random.number(1...99)) / 100, random.number(1...500))
        }
        request.afterSending = afterSending()
        let accept = random.derived("accept")
        if accept.chance(0.3) {
            request.headers.append(("Accept", accept.pick(Self.accepted)))
        }
        RouteDraw(random: random.derived("route")).complete(&request, config)
        InputDraw(random: random.derived("input")).complete(&request, config)
        EntryDraw(random: random.derived("entry")).complete(&request)
        if !config.rateLimits.isEmpty {
            RateLimitDraw(random: random.derived("quota")).complete(&request)
        }
        AuthDraw(random: random.derived("auth")).complete(
            &request, config.endpoint(of: request) ?? endpoint)
        return request
    }

    /// Values of `Accept` that requests have.
    private static let accepted = [
        "application/x-ndjson", "application/x-ndjson", "application/x-ndjson, */*;q=0.1",
        "application/json, application/x-ndjson",
        "application/x-ndjson;q=0.4, application/json;q=0.5",
    ]

    private func query(_ endpoint: DrawnEndpoint) -> [(name: String, value: String)] {
        var query: [(name: String, value: String)] = []
        for param in endpoint.params where !param.isHeader && param.name != "id" {
            guard param.isRequired || random.chance(0.6) else { continue }
            query.append((param.name, param.oneOf.isEmpty ? "a b&c" : random.pick(param.oneOf)))
        }
        if random.chance(0.2) { query.append(("debug", "1")) }
        // Undeclared parameters, and one that calls set themselves.
        let others = random.derived("others")
        if others.chance(0.25) {
            query += others.some([("u0", "9"), ("tag", "a b"), ("tag", "&=/?"), ("u1", "")], 0.6)
        }
        if endpoint.calls.contains(where: \.hasList) {
            let list = random.derived("list")
            for _ in 0..<list.number(0...3) {
                query.append((DrawnUse.list, list.pick(["1", "1", "1", "2", "3"])))
            }
        }
        return query
    }

    private func headers(_ endpoint: DrawnEndpoint) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if random.chance(0.7) { headers.append(("X-User", "ann")) }
        let tenant = endpoint.params.first { $0.isHeader }
        if tenant?.isRequired == true || random.chance(0.4) { headers.append(("X-Tenant", "t1")) }
        return headers
    }

    private func invalidate(_ request: inout ScriptedRequest, _ endpoint: DrawnEndpoint) {
        switch random.number(0...8) {
        case 0: request.endpoint = nil
        case 1:
            request.method = "PATCH"
            request.body = request.body ?? "{}"
        case 2 where request.id != nil: request.id = random.pick(["0", "x/y", "..", "1000", "a b"])
        case 3: request.query.append(("lang", "xx"))
        case 4: request.query.append(("q", "far too long for it"))
        case 5: request.query.removeAll()
        case 6 where request.body != nil:
            request.body = random.pick(Self.invalidBodies)
        default:
            request.defect = random.pick(
                usesHTTP2 ? Self.defectsOfHTTP2 : ScriptedRequest.Defect.allCases)
        }
        if request.defect == .badChunk, request.body == nil { request.defect = .badField }
        if request.defect == .oddMethod { request.method = String(repeating: "M", count: 40) }
        if request.defect == .twoLengths || request.defect == .lengthAndChunked
            || request.defect == .badLength
        {
            request.body = nil
        }
    }

    private static let invalidBodies = [
        "", "{]", "{}", #"{"user":7}"#, "[1]",
        #"{"user":"\#(String(repeating: "u", count: 3000))"}"#,
        #"{"user":"\#(String(repeating: "u", count: 90_000))"}"#,
    ]

    /// The others are those of HTTP/1.1's text.
    private static let defectsOfHTTP2: [ScriptedRequest.Defect] = [
        .longTarget, .manyFields, .longField, .oddMethod, .noHost, .badField,
    ]

    private func afterSending() -> ScriptedRequest.AfterSending {
        if random.chance(rates[.vanishing]) {
            let after = random.pick([0, 1, 10, 60, 200])
            return random.chance(0.5) ? .closes(after: after) : .resets(after: after)
        }
        if random.chance(rates[.halfCloses]) { return .halfCloses }
        if random.chance(rates[.slowReaders]) { return .pausesReading(random.number(1...400)) }
        return .waits
    }
}
