import Rehearsal

/// Draws what clients do.
struct TrafficDraw {
    let dice: RandomSource
    let rates: FaultRates
    let config: DrawnConfig

    func connections() -> [ScriptedConnection] {
        let isBurst = dice.chance(rates[.bursts] * 2)
        let count = isBurst ? dice.number(8...30) : dice.number(1...6)
        let spread = isBurst ? 2_000 : dice.pick([1_000, 50_000, 400_000])
        var number = 0
        return (0..<count).map { index in
            let dice = dice.dice("connection", index)
            let requests = (0..<(isBurst ? 1 : dice.number(1...5))).map { place in
                number += 1
                return RequestDraw(dice: dice.dice("request", place), rates: rates, config: config)
                    .request(number - 1, isFirst: place == 0)
            }
            return ScriptedConnection(
                number: index, start: dice.number(0...spread), requests: requests,
                leaves: dice.chance(0.6))
        }
    }
}

/// Draws one request: a good one for some endpoint, unless it is to be bad.
struct RequestDraw {
    let dice: RandomSource
    let rates: FaultRates
    let config: DrawnConfig

    func request(_ number: Int, isFirst: Bool) -> ScriptedRequest {
        let endpoint = dice.pick(config.endpoints)
        var request = ScriptedRequest(
            number: number, method: endpoint.method, endpoint: endpoint.index)
        if endpoint.hasID { request.id = "\(dice.number(1...999))" }
        request.query = query(endpoint)
        request.headers = headers(endpoint)
        if endpoint.method == "POST" || endpoint.method == "PUT" {
            request.body = #"{"user":"u\#(number)","mark":"r\#(number)"}"#
            request.isChunked = dice.chance(0.2)
            request.expectsContinue = dice.chance(0.1)
        } else if endpoint.method == "GET", dice.chance(0.1) {
            request.method = "HEAD"
        }
        if dice.chance(rates[.badRequests]) { spoil(&request, endpoint) }
        request.isPipelined = !isFirst && dice.chance(rates[.pipelining] * 3)
        request.pause = request.isPipelined ? 0 : dice.pick([0, 0, 1, 5, 30, 120])
        if dice.chance(rates[.slowRequests]) {
            request.stall = (Double(dice.number(1...99)) / 100, dice.number(1...500))
        }
        request.then = then()
        return request
    }

    private func query(_ endpoint: DrawnEndpoint) -> [(name: String, value: String)] {
        var query: [(name: String, value: String)] = []
        for param in endpoint.params where !param.isHeader && param.name != "id" {
            guard param.isRequired || dice.chance(0.6) else { continue }
            query.append((param.name, param.oneOf.isEmpty ? "a b&c" : dice.pick(param.oneOf)))
        }
        if dice.chance(0.2) { query.append(("debug", "1")) }
        // Undeclared ones, and one that calls set themselves.
        let others = dice.dice("others")
        if others.chance(0.25) {
            query += others.some([("u0", "9"), ("tag", "a b"), ("tag", "&=/?"), ("u1", "")], 0.6)
        }
        return query
    }

    private func headers(_ endpoint: DrawnEndpoint) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if dice.chance(0.7) { headers.append(("X-User", "ann")) }
        let tenant = endpoint.params.first { $0.isHeader }
        if tenant?.isRequired == true || dice.chance(0.4) { headers.append(("X-Tenant", "t1")) }
        return headers
    }

    private func spoil(_ request: inout ScriptedRequest, _ endpoint: DrawnEndpoint) {
        switch dice.number(0...8) {
        case 0: request.endpoint = nil
        case 1:
            request.method = "PATCH"
            request.body = request.body ?? "{}"
        case 2 where request.id != nil: request.id = dice.pick(["0", "x/y", "..", "1000", "a b"])
        case 3: request.query.append(("lang", "xx"))
        case 4: request.query.append(("q", "far too long for it"))
        case 5: request.query.removeAll()
        case 6 where request.body != nil:
            request.body = dice.pick([
                "", "{]", "{}", #"{"user":7}"#, "[1]",
                #"{"user":"\#(String(repeating: "u", count: 3000))"}"#,
                #"{"user":"\#(String(repeating: "u", count: 90_000))"}"#,
            ])
        default: request.flaw = dice.pick(ScriptedRequest.Flaw.allCases)
        }
        if request.flaw == .badChunk, request.body == nil { request.flaw = .badField }
        if request.flaw == .oddMethod { request.method = String(repeating: "M", count: 40) }
        if request.flaw == .twoLengths || request.flaw == .lengthAndChunked
            || request.flaw == .badLength
        {
            request.body = nil
        }
    }

    private func then() -> ScriptedRequest.Then {
        if dice.chance(rates[.vanishing]) {
            let after = dice.pick([0, 1, 10, 60, 200])
            return dice.chance(0.5) ? .closes(after: after) : .resets(after: after)
        }
        if dice.chance(rates[.halfCloses]) { return .halfCloses }
        if dice.chance(rates[.slowReaders]) { return .pausesReading(dice.number(1...400)) }
        return .waits
    }
}
