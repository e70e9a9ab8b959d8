import Rehearsal

/// Draws the behaviour of a backend for one request. What a response says does not depend on the version of
/// HTTP; how it is sent, and how it fails, does.
struct ResponseDraw {
    let random: RandomSource
    let rates: FaultRates
    let mark: String
    /// Identifies the call, as its path does.
    let key: String
    /// Unique among all responses of a run.
    let serial: String
    let responseMax: Int
    /// The host has an outage: every request fails.
    let isFailing: Bool
    /// The request is a HEAD: the response has no body.
    let isResponseToHead: Bool
    let usesHTTP2: Bool

    /// Draws the behaviour for a call.
    func script() -> ScriptedResponse {
        timed(isFailing ? failing() : broken() ?? wrong() ?? complete(200))
    }

    /// Draws the behaviour for a health check.
    func healthScript() -> ScriptedResponse {
        if isFailing { return timed(failing()) }
        let status =
            random.chance(rates[.badStatus] * 2)
            ? random.pick([301, 404, 500, 503]) : random.pick([200, 200, 204])
        return timed(broken() ?? complete(status))
    }

    private func timed(_ script: ScriptedResponse) -> ScriptedResponse {
        var script = script
        script.delay = random.pick([0, 0, 0, 1, 3, 10])
        if random.chance(rates[.slowAnswers]) { script.delay = random.number(20...600) }
        if random.chance(rates[.drips]), !script.hasTrailingData { drip(&script) }
        let idleEvent = random.maybe(
            rates[.idleLosses],
            ScriptedResponse.IdleEvent(
                delay: random.number(0...150), kind: random.pick([.closes, .resets, .sendsData])))
        if script.http2?.ending == .endsStream {
            script.http2?.idleEvent = idleEvent
            shutDown(&script)
        } else if case .response = script.outcome, script.ending == .stays, script.http2 == nil {
            script.idleEvent = idleEvent
        }
        return script
    }

    private func drip(_ script: inout ScriptedResponse) {
        let bytes = (script.http2?.pieces ?? script.pieces).flatMap { $0 }
        guard bytes.count > 1 else { return }
        let size = max(1, bytes.count / random.number(2...6))
        let pieces = stride(from: 0, to: bytes.count, by: size).map {
            Array(bytes[$0..<min($0 + size, bytes.count)])
        }
        if usesHTTP2 { script.http2?.pieces = pieces } else { script.pieces = pieces }
        script.gap = random.number(0...40)
    }

    private func shutDown(_ script: inout ScriptedResponse) {
        guard random.chance(rates[.shutdowns]) else { return }
        script.http2?.shutdown = random.pick([
            .graceful(after: random.number(0...60)), .graceful(after: random.number(0...60)),
            .last, .excluding,
        ])
        if script.http2?.shutdown == .excluding { script.outcome = .fails(.connectionTerminated) }
    }

    // MARK: A missing or incomplete response

    private func failing() -> ScriptedResponse {
        if random.chance(0.5) { return complete(random.pick([500, 503])) }
        return cut(.connectionTerminated, random.pick([.closes, .resets]), .resets(randomCode))
    }

    private var randomCode: Int {
        random.pick([PeerCode.cancel, .internalError, .protocolError, .noError]).rawValue
    }

    /// A response that ends before it is complete, with a failure; nil for none at all.
    ///
    /// - Parameters:
    ///   - ending: over HTTP/1.1, behind `bytes` of the response
    ///   - http2: over HTTP/2, behind a part of a body with the stated length
    private func cut(
        _ failure: FailureKind?, _ ending: ScriptedResponse.Ending,
        _ http2: HTTP2Response.Ending, bytes: [UInt8] = [],
        part: (bytes: [UInt8], stated: Int)? = nil
    ) -> ScriptedResponse {
        let outcome = failure.map { ScriptedResponse.Outcome.fails($0) } ?? .nothing
        guard usesHTTP2 else {
            var script = ScriptedResponse()
            script.outcome = outcome
            script.pieces = bytes.isEmpty ? [] : [bytes]
            script.ending = ending
            return script
        }
        return scripted(
            outcome, http2, heads: part.map { [fields(200) + length($0.stated)] } ?? [],
            pieces: part.map { [$0.bytes] } ?? [])
    }

    private func broken() -> ScriptedResponse? {
        let terminated = FailureKind.connectionTerminated
        if random.chance(rates[.hangs]) { return cut(nil, .stays, .stalls) }
        if random.chance(rates[.closes]) { return cut(terminated, .closes, .closesConnection) }
        if random.chance(rates[.resets]) { return cut(terminated, .resets, .resetsConnection) }
        if usesHTTP2, random.chance(rates[.refusedStreams]) {
            return scripted(
                .fails(terminated), random.pick([.refuses, .refuses, .refuses, .enhanceYourCalm]))
        }
        if usesHTTP2, random.chance(rates[.frozenHosts]) { return scripted(.nothing, .freezes) }
        let whole = Array(tree().written.utf8)
        let body = isResponseToHead ? [] : whole
        let head = Array(text(200, length(whole.count)).utf8)
        if random.chance(rates[.resetsMidHead]) {
            return cut(
                usesHTTP2 ? terminated : .responseIncomplete, .resets, .resets(randomCode),
                bytes: Array(head[..<random.number(1...head.count - 1)]))
        }
        // Over HTTP/2, a response without a body is complete with its head.
        guard !body.isEmpty || !usesHTTP2 else { return nil }
        let part = body.isEmpty ? [] : Array(body[..<random.number(0...body.count - 1)])
        if random.chance(rates[.resetsMidBody]), !body.isEmpty {
            return cut(
                .responseIncomplete, .resets, .resets(randomCode), bytes: head + part,
                part: (part, body.count))
        }
        if random.chance(rates[.truncations]) {
            let bytes = head + body
            return cut(
                .responseIncomplete, .closes,
                random.pick([.closesConnection, .resetsConnection]),
                bytes: Array(bytes[..<random.number(1...bytes.count - 1)]),
                part: (part, body.count))
        }
        return nil
    }

    // MARK: A wrong response

    private func wrong() -> ScriptedResponse? {
        if random.chance(rates[.badStatus]) {
            return complete(
                random.pick([301, 302, 400, 401, 404, 404, 410, 429, 500, 502, 503, 204, 304]))
        }
        if usesHTTP2, random.chance(rates[.malformed]) { return malformedHTTP2() }
        guard !isResponseToHead else { return nil }
        if random.chance(rates[.badJSON]) { return respond(200, badJSON(), nil) }
        if random.chance(rates[.badShape]) {
            let tree = badTree()
            return respond(200, Array(tree.written.utf8), tree)
        }
        if random.chance(rates[.wrongLengths]) {
            return usesHTTP2 ? wrongLengthHTTP2() : wrongLengthHTTP1()
        }
        if !usesHTTP2, random.chance(rates[.malformed]) { return malformedHTTP1() }
        if random.chance(rates[.hugeAnswers]) { return huge() }
        return !usesHTTP2 && random.chance(rates[.smuggled]) ? smuggling() : nil
    }

    private func badJSON() -> [UInt8] {
        let good = tree().written
        return Array(
            random.pick([
                "{]", good + good, String(good.dropLast()), #"{"a":"\ud800"}"#, "nul", "01",
                #"{"a":1,}"#, "\u{1}",
            ]).utf8)
    }

    /// A response without members that shapes and references need.
    private func badTree() -> Tree {
        guard case .object(var members) = tree() else { return .null }
        switch random.number(0...3) {
        case 0: members.removeAll { $0.key == "items" || $0.key == "nest" }
        case 1: members.removeAll { $0.key == "segment" || $0.key == "mark" }
        case 2:
            for index in members.indices where ["segment", "nest"].contains(members[index].key) {
                members[index].value = .null
            }
        default: return .array([.text(mark), .text(serial)])
        }
        return .object(members)
    }

    /// More bytes than `max_body` allows, or a length that is more.
    private func huge() -> ScriptedResponse {
        let body = [UInt8](
            repeating: UInt8(ascii: "a"), count: responseMax + random.number(1...200))
        let isStated = random.chance(0.5)
        guard usesHTTP2 else {
            let size = "Transfer-Encoding: chunked\r\n\r\n\(String(body.count, radix: 16))"
            let head =
                "HTTP/1.1 200 OK\r\n"
                + (isStated ? "Content-Length: \(body.count)\r\n" : size) + "\r\n"
            return cut(
                .responseBodySize, .stays, .stalls, bytes: Array(head.utf8) + (isStated ? [] : body)
            )
        }
        return scripted(
            .fails(.responseBodySize), .stalls,
            heads: [fields(200) + (isStated ? length(body.count) : [])],
            pieces: isStated ? [] : [body])
    }

    // MARK: A complete response

    /// The body of a response, with the request's mark in every member that may reach a client.
    func tree() -> Tree {
        .members([
            "mark": .text(mark), "call": .text(key), "serial": .text(serial),
            "segment": .text(random.pick(["blue", "a/b c", "100%", "\u{e9}t\u{e9}?#&"])),
            "price": .scalar("19.90"), "big": .scalar("9007199254740993"),
            "items": .array([
                .members(["id": .scalar("1"), "serial": .text(serial), "price": .scalar("1e400")]),
                .members(["id": .scalar("2"), "more": .array([])]),
            ]),
            "nest": .members(["a": .text("x y"), "b": .null]),
            "first_seen": .array([.members(["time_zone": .text("a_b"), "_id": .null])]),
            "tags": tags(),
        ])
    }

    /// For `has` and `has_any`: an array, mostly.
    private func tags() -> Tree {
        random.derived("tags").pick([
            .array([.text("red"), .scalar("7"), .null]), .array([.text("t1"), .text("7")]),
            .array([.array([.text("red")])]), .array([]), .text("red"), .null,
        ])
    }

    private func complete(_ status: Int) -> ScriptedResponse {
        let tree = tree()
        let isLarge = usesHTTP2 && random.derived("large").chance(0.08)
        guard isLarge || random.chance(rates[.oddAnswers]) else {
            return respond(status, Array(tree.written.utf8), tree)
        }
        switch isLarge ? 3 : random.number(0...3) {
        case 0: return respond(status, [], .null)
        case 1: return respond(status, Array(" \r\n\t\(tree.written)\n".utf8), tree)
        case 2:
            let other = random.pick([
                .scalar("true"), .null, .scalar("-0.0"), .text(mark), Tree.array([.text(mark)]),
            ])
            return respond(status, Array(other.written.utf8), other)
        default:
            let large = usesHTTP2 ? large(tree) : tree
            return respond(status, Array(large.written.utf8), large)
        }
    }

    /// With one more member, so that the body needs several windows.
    private func large(_ tree: Tree) -> Tree {
        guard case .object(var members) = tree else { return tree }
        let most = rates[.smallWindows] > 0 ? 2000 : 80_000
        let room = min(responseMax, most) - tree.written.utf8.count - 20
        guard room > 100 else { return tree }
        let filling = String(repeating: "z", count: random.number(100...room))
        members.append(Tree.Member(key: "filling", value: .text(filling)))
        return .object(members)
    }

    private func respond(_ status: Int, _ body: [UInt8], _ tree: Tree?) -> ScriptedResponse {
        let isBare = status == 204 || status == 304
        let content = isBare || isResponseToHead ? [] : body
        let isOdd = random.chance(rates[.oddAnswers])
        var script =
            usesHTTP2
            ? framedHTTP2(status, content, stated: isBare ? nil : body.count, isOdd: isOdd)
            : framedHTTP1(
                status, content, stated: isBare ? nil : body.count,
                framing: isBare || !isOdd ? 0 : random.number(1...5))
        script.outcome =
            content.count > responseMax
            ? .fails(.responseBodySize)
            : .response(
                status: status, body: content, tree: isBare || isResponseToHead ? .null : tree)
        return script
    }

    func length(_ count: Int) -> [PeerField] { [("content-length", "\(count)")] }

    /// The header fields of a response, without its status.
    func plainFields(_ status: Int) -> [PeerField] {
        var fields: [PeerField] = [
            ("etag", "\"\(mark)\""), ("set-cookie", "a=\(mark)"), ("set-cookie", "b=\(mark)"),
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
