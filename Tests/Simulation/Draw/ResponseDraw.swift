import Rehearsal

/// Draws the behaviour of a backend for one request.
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
    var isResponseToHead = false

    /// Draws the behaviour for a call.
    func script() -> ScriptedResponse {
        if isResponseToHead {
            return timed(isFailing ? failing() : brokenHead() ?? wrongHead() ?? bodiless(200))
        }
        return timed(
            isFailing ? failing() : broken() ?? wrong() ?? complete(status: 200, tree: tree()))
    }

    /// Draws the behaviour for a health check.
    func healthScript() -> ScriptedResponse {
        if isFailing { return timed(failing()) }
        let status =
            random.chance(rates[.badStatus] * 2)
            ? random.pick([301, 404, 500, 503]) : random.pick([200, 200, 204])
        return timed(broken() ?? complete(status: status, tree: tree()))
    }

    private func timed(_ script: ScriptedResponse) -> ScriptedResponse {
        var script = script
        script.delay = random.pick([0, 0, 0, 1, 3, 10])
        if random.chance(rates[.slowAnswers]) { script.delay = random.number(20...600) }
        if random.chance(rates[.drips]), !script.hasTrailingData { drip(&script) }
        if case .response = script.outcome, script.ending == .stays,
            random.chance(rates[.idleLosses])
        {
            script.idleEvent = ScriptedResponse.IdleEvent(
                delay: random.number(0...150), kind: random.pick([.closes, .resets, .sendsData]))
        }
        return script
    }

    private func drip(_ script: inout ScriptedResponse) {
        let bytes = script.pieces.flatMap { $0 }
        guard bytes.count > 1 else { return }
        let size = max(1, bytes.count / random.number(2...6))
        script.pieces = stride(from: 0, to: bytes.count, by: size).map {
            Array(bytes[$0..<min($0 + size, bytes.count)])
        }
        script.gap = random.number(0...40)
    }

    // MARK: A missing or incomplete response

    private func failing() -> ScriptedResponse {
        if random.chance(0.5) {
            let status = random.pick([500, 503])
            return isResponseToHead ? bodiless(status) : complete(status: status, tree: tree())
        }
        var script = ScriptedResponse()
        script.ending = random.pick([.closes, .resets])
        script.outcome = .fails(.connectionTerminated)
        return script
    }

    private func broken() -> ScriptedResponse? {
        var script = ScriptedResponse()
        if random.chance(rates[.hangs]) { return script }
        if random.chance(rates[.closes]) {
            script.ending = .closes
            script.outcome = .fails(.connectionTerminated)
            return script
        }
        if random.chance(rates[.resets]) {
            script.ending = .resets
            script.outcome = .fails(.connectionTerminated)
            return script
        }
        script.outcome = .fails(.responseIncomplete)
        if random.chance(rates[.resetsMidHead]) {
            let (head, _) = sized(200, tree())
            script.pieces = [Array(head[..<random.number(1...head.count - 1)])]
            script.ending = .resets
            return script
        }
        if random.chance(rates[.resetsMidBody]) {
            let (head, body) = sized(200, tree())
            script.pieces = [head, Array(body[..<random.number(0...body.count - 1)])]
            script.ending = .resets
            return script
        }
        if random.chance(rates[.truncations]) {
            let (head, body) = sized(200, tree())
            let bytes = head + body
            script.pieces = [Array(bytes[..<random.number(1...bytes.count - 1)])]
            script.ending = .closes
            return script
        }
        return nil
    }

    // MARK: A response to HEAD

    /// A response without a body, which may state a length (RFC 9110 section 9.3.2).
    private func bodiless(_ status: Int) -> ScriptedResponse {
        var script = ScriptedResponse()
        script.outcome = .response(status: status, body: [], tree: .null)
        let isBare = status == 204 || status == 304
        var head = head(status)
        switch isBare || !random.chance(rates[.oddAnswers]) ? 0 : random.number(1...4) {
        case 1: head += "Transfer-Encoding: chunked\r\n"
        case 2: break
        case 3:
            head += "Connection: close\r\nContent-Length: 7\r\n"
            script.ending = random.pick([.stays, .closes, .halfCloses])
        case 4: head = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + head
        default: if !isBare { head += "Content-Length: \(tree().written.utf8.count)\r\n" }
        }
        script.pieces = [Array((head + "\r\n").utf8)]
        script.responseLength = script.byteCount
        return script
    }

    private func brokenHead() -> ScriptedResponse? {
        guard let script = broken() else { return nil }
        guard !script.pieces.isEmpty else { return script }
        // An incomplete response ends within its head.
        var cut = script
        let head = head(200) + "\r\n"
        cut.pieces = [Array(head.utf8.prefix(random.number(1...head.utf8.count - 1)))]
        return cut
    }

    private func wrongHead() -> ScriptedResponse? {
        guard random.chance(rates[.badStatus]) else { return nil }
        return bodiless(random.pick([301, 400, 404, 404, 410, 500, 503, 204, 304]))
    }

    // MARK: A wrong response

    private func wrong() -> ScriptedResponse? {
        if random.chance(rates[.badStatus]) {
            let status = random.pick([
                301, 302, 400, 401, 404, 404, 410, 429, 500, 502, 503, 204, 304,
            ])
            return complete(status: status, tree: tree())
        }
        if random.chance(rates[.badJSON]) {
            return complete(status: 200, body: badJSON(), tree: nil)
        }
        if random.chance(rates[.badShape]) { return complete(status: 200, tree: badTree()) }
        if random.chance(rates[.wrongLengths]) { return wrongLength() }
        if random.chance(rates[.malformed]) { return malformed() }
        if random.chance(rates[.hugeAnswers]) { return huge() }
        if random.chance(rates[.smuggled]) { return smuggling() }
        return nil
    }

    func badJSON() -> [UInt8] {
        let good = tree().written
        return Array(
            random.pick([
                "{]", good + good, String(good.dropLast()), #"{"a":"\ud800"}"#, "nul", "01",
                #"{"a":1,}"#, "\u{1}",
            ]).utf8)
    }

    /// A response without members that shapes and references need.
    func badTree() -> Tree {
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

    private func wrongLength() -> ScriptedResponse {
        var script = ScriptedResponse()
        let body = Array(tree().written.utf8)
        let isMore = random.chance(0.5)
        let stated = isMore ? body.count + random.number(1...50) : random.number(1...body.count - 1)
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(stated)\r\n\r\n".utf8)
        script.pieces = [head + body]
        if isMore {
            script.ending = random.pick([.stays, .closes, .resets, .halfCloses])
            script.outcome = script.ending == .stays ? .nothing : .fails(.responseIncomplete)
        } else {
            script.outcome = .response(status: 200, body: Array(body[..<stated]), tree: nil)
            script.responseLength = head.count + stated
            script.hasTrailingData = true
        }
        if stated > responseMax { script.outcome = .fails(.responseBodySize) }
        return script
    }

    private func malformed() -> ScriptedResponse {
        var script = ScriptedResponse()
        let heads = [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nBad Name: 1\r\n\r\n", "HTTP/1.1 200 OK\r\n: 1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "HTTP/1.1 200 OK\nX: 1\n\n",
            "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 101 Go\r\n\r\n",
            "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nX: 1\r\n  folded\r\n\r\n",
        ]
        script.pieces = [Array(random.pick(heads).utf8)]
        script.outcome = .fails(.protocolError)
        return script
    }

    private func huge() -> ScriptedResponse {
        var script = ScriptedResponse()
        script.outcome = .fails(.responseBodySize)
        let filling = [UInt8](
            repeating: UInt8(ascii: "a"), count: responseMax + random.number(1...200))
        if random.chance(0.5) {
            script.pieces = [
                Array("HTTP/1.1 200 OK\r\nContent-Length: \(filling.count)\r\n\r\n".utf8)
            ]
        } else {
            let size = String(filling.count, radix: 16)
            script.pieces = [
                Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n".utf8)
                    + filling
            ]
        }
        return script
    }

    /// A valid response, followed by an unsolicited one.
    private func smuggling() -> ScriptedResponse {
        var script = complete(status: 200, tree: tree(), plainly: true)
        let (head, body) = sized(200, .members(["mark": .text("smuggled")]))
        script.pieces = [script.pieces.flatMap { $0 } + head + body]
        script.hasTrailingData = true
        return script
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

    private func complete(status: Int, tree: Tree, plainly: Bool = false) -> ScriptedResponse {
        guard !plainly, random.chance(rates[.oddAnswers]) else {
            return complete(
                status: status, body: Array(tree.written.utf8), tree: tree, plainly: plainly)
        }
        switch random.number(0...3) {
        case 0: return complete(status: status, body: [], tree: .null)
        case 1:
            return complete(
                status: status, body: Array(" \r\n\t\(tree.written)\n".utf8), tree: tree)
        case 2:
            let other = random.pick([
                .scalar("true"), .null, .scalar("-0.0"), .text(mark), Tree.array([.text(mark)]),
            ])
            return complete(status: status, body: Array(other.written.utf8), tree: other)
        default: return complete(status: status, body: Array(tree.written.utf8), tree: tree)
        }
    }

    private func complete(
        status: Int, body: [UInt8], tree: Tree?, plainly: Bool = false
    ) -> ScriptedResponse {
        var script = ScriptedResponse()
        let isBare = status == 204 || status == 304
        script.outcome = .response(
            status: status, body: isBare ? [] : body, tree: isBare ? .null : tree)
        var head = head(status)
        let framing =
            plainly || isBare || !random.chance(rates[.oddAnswers]) ? 0 : random.number(1...5)
        switch framing {
        case 1:
            script.pieces = [
                Array((head + "Transfer-Encoding: chunked\r\n\r\n").utf8), chunked(body),
            ]
        case 2:
            script.pieces = [Array((head + "\r\n").utf8), body]
            script.ending = random.pick([.closes, .halfCloses])
            script.endsWithConnection = true
        case 3:
            head = "HTTP/1.0" + head.dropFirst(8)
            script.pieces = [Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8), body]
        case 4:
            head += "Connection: close\r\nContent-Length: \(body.count)\r\n\r\n"
            script.pieces = [Array(head.utf8), body]
            script.ending = random.pick([.stays, .closes, .halfCloses])
        case 5:
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
            head = interim + head + "Content-Length: \(body.count)\r\n\r\n"
            script.pieces = [Array(head.utf8), body]
        default:
            head += isBare ? "\r\n" : "Content-Length: \(body.count)\r\n\r\n"
            script.pieces = [Array(head.utf8), isBare ? [] : body]
        }
        script.responseLength = script.byteCount
        if !isBare, body.count > responseMax { script.outcome = .fails(.responseBodySize) }
        return script
    }

    private func head(_ status: Int) -> String {
        var head = "HTTP/1.1 \(status) Some Words\r\nETag: \"\(mark)\"\r\n"
        if status == 503 {
            head +=
                "Retry-After: \(random.pick(["0", "1", "-5", "9223372036854775807", "soon"]))\r\n"
        }
        if status == 301 || status == 302 {
            head += "Location: http://127.0.0.1:7000/elsewhere\r\n"
        }
        return head + "Set-Cookie: a=\(mark)\r\nSet-Cookie: b=\(mark)\r\n"
    }

    private func sized(_ status: Int, _ tree: Tree) -> (head: [UInt8], body: [UInt8]) {
        let body = Array(tree.written.utf8)
        return (Array((head(status) + "Content-Length: \(body.count)\r\n\r\n").utf8), body)
    }

    private func chunked(_ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var position = 0
        while position < body.count {
            let count = min(random.number(1...200), body.count - position)
            bytes += Array("\(String(count, radix: 16))\r\n".utf8)
            bytes += body[position..<position + count]
            bytes += [0x0D, 0x0A]
            position += count
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }
}
