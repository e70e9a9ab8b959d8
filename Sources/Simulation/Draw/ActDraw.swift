import Rehearsal

/// Draws what a backend does about one request.
struct ActDraw {
    let dice: RandomSource
    let rates: FaultRates
    let mark: String
    /// Names the call, as its path does.
    let key: String
    /// Unique among all answers of a run.
    let serial: String
    let answerMax: Int
    /// The host is ill: nothing that it is asked goes well.
    let isIll: Bool
    /// The request is a HEAD: no body follows the head of the response.
    var answersHead = false

    func act() -> Act {
        if answersHead {
            return timed(isIll ? ill() : brokenHead() ?? wrongHead() ?? bodiless(200))
        }
        return timed(isIll ? ill() : broken() ?? wrong() ?? whole(status: 200, tree: tree()))
    }

    /// What it does about a check of its health.
    func check() -> Act {
        if isIll { return timed(ill()) }
        let status =
            dice.chance(rates[.badStatus] * 2)
            ? dice.pick([301, 404, 500, 503]) : dice.pick([200, 200, 204])
        return timed(broken() ?? whole(status: status, tree: tree()))
    }

    private func timed(_ act: Act) -> Act {
        var act = act
        act.delay = dice.pick([0, 0, 0, 1, 3, 10])
        if dice.chance(rates[.slowAnswers]) { act.delay = dice.number(20...600) }
        if dice.chance(rates[.drips]), !act.isPoisonous { drip(&act) }
        if case .answer = act.outcome, act.ending == .stays, dice.chance(rates[.idleLosses]) {
            act.afterwards = Act.Afterwards(
                delay: dice.number(0...150), kind: dice.pick([.closes, .resets, .speaks]))
        }
        return act
    }

    private func drip(_ act: inout Act) {
        let bytes = act.pieces.flatMap { $0 }
        guard bytes.count > 1 else { return }
        let size = max(1, bytes.count / dice.number(2...6))
        act.pieces = stride(from: 0, to: bytes.count, by: size).map {
            Array(bytes[$0..<min($0 + size, bytes.count)])
        }
        act.gap = dice.number(0...40)
    }

    // MARK: No answer, or not all of it

    private func ill() -> Act {
        if dice.chance(0.5) {
            let status = dice.pick([500, 503])
            return answersHead ? bodiless(status) : whole(status: status, tree: tree())
        }
        var act = Act()
        act.ending = dice.pick([.closes, .resets])
        act.outcome = .fails(.connectionTerminated)
        return act
    }

    private func broken() -> Act? {
        var act = Act()
        if dice.chance(rates[.hangs]) { return act }
        if dice.chance(rates[.closes]) {
            act.ending = .closes
            act.outcome = .fails(.connectionTerminated)
            return act
        }
        if dice.chance(rates[.resets]) {
            act.ending = .resets
            act.outcome = .fails(.connectionTerminated)
            return act
        }
        act.outcome = .fails(.responseIncomplete)
        if dice.chance(rates[.resetsMidHead]) {
            let (head, _) = sized(200, tree())
            act.pieces = [Array(head[..<dice.number(1...head.count - 1)])]
            act.ending = .resets
            return act
        }
        if dice.chance(rates[.resetsMidBody]) {
            let (head, body) = sized(200, tree())
            act.pieces = [head, Array(body[..<dice.number(0...body.count - 1)])]
            act.ending = .resets
            return act
        }
        if dice.chance(rates[.truncations]) {
            let (head, body) = sized(200, tree())
            let bytes = head + body
            act.pieces = [Array(bytes[..<dice.number(1...bytes.count - 1)])]
            act.ending = .closes
            return act
        }
        return nil
    }

    // MARK: A response to HEAD

    /// A head that may announce a body, as RFC 9110 section 9.3.2 has it.
    private func bodiless(_ status: Int) -> Act {
        var act = Act()
        act.outcome = .answer(status: status, body: [], tree: .null)
        let isBare = status == 204 || status == 304
        var head = head(status)
        switch isBare || !dice.chance(rates[.oddAnswers]) ? 0 : dice.number(1...4) {
        case 1: head += "Transfer-Encoding: chunked\r\n"
        case 2: break
        case 3:
            head += "Connection: close\r\nContent-Length: 7\r\n"
            act.ending = dice.pick([.stays, .closes, .halfCloses])
        case 4: head = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + head
        default: if !isBare { head += "Content-Length: \(tree().written.utf8.count)\r\n" }
        }
        act.pieces = [Array((head + "\r\n").utf8)]
        act.answerLength = act.byteCount
        return act
    }

    private func brokenHead() -> Act? {
        guard let act = broken() else { return nil }
        guard !act.pieces.isEmpty else { return act }
        // What ends in the middle of a response ends in the middle of its head.
        var cut = act
        let head = head(200) + "\r\n"
        cut.pieces = [Array(head.utf8.prefix(dice.number(1...head.utf8.count - 1)))]
        return cut
    }

    private func wrongHead() -> Act? {
        guard dice.chance(rates[.badStatus]) else { return nil }
        return bodiless(dice.pick([301, 400, 404, 404, 410, 500, 503, 204, 304]))
    }

    // MARK: A wrong answer

    private func wrong() -> Act? {
        if dice.chance(rates[.badStatus]) {
            let status = dice.pick([
                301, 302, 400, 401, 404, 404, 410, 429, 500, 502, 503, 204, 304,
            ])
            return whole(status: status, tree: tree())
        }
        if dice.chance(rates[.badJSON]) { return whole(status: 200, body: badJSON(), tree: nil) }
        if dice.chance(rates[.badShape]) { return whole(status: 200, tree: badTree()) }
        if dice.chance(rates[.wrongLengths]) { return wrongLength() }
        if dice.chance(rates[.malformed]) { return malformed() }
        if dice.chance(rates[.hugeAnswers]) { return huge() }
        if dice.chance(rates[.smuggled]) { return smuggling() }
        return nil
    }

    private func badJSON() -> [UInt8] {
        let good = tree().written
        return Array(
            dice.pick([
                "{]", good + good, String(good.dropLast()), #"{"a":"\ud800"}"#, "nul", "01",
                #"{"a":1,}"#, "\u{1}",
            ]).utf8)
    }

    /// An answer that lacks what shapes and references look for.
    private func badTree() -> Tree {
        guard case .object(var members) = tree() else { return .null }
        switch dice.number(0...3) {
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

    private func wrongLength() -> Act {
        var act = Act()
        let body = Array(tree().written.utf8)
        let isMore = dice.chance(0.5)
        let told = isMore ? body.count + dice.number(1...50) : dice.number(1...body.count - 1)
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(told)\r\n\r\n".utf8)
        act.pieces = [head + body]
        if isMore {
            act.ending = dice.pick([.stays, .closes, .resets, .halfCloses])
            act.outcome = act.ending == .stays ? .nothing : .fails(.responseIncomplete)
        } else {
            act.outcome = .answer(status: 200, body: Array(body[..<told]), tree: nil)
            act.answerLength = head.count + told
            act.isPoisonous = true
        }
        if told > answerMax { act.outcome = .fails(.responseBodySize) }
        return act
    }

    private func malformed() -> Act {
        var act = Act()
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
        act.pieces = [Array(dice.pick(heads).utf8)]
        act.outcome = .fails(.protocolError)
        return act
    }

    private func huge() -> Act {
        var act = Act()
        act.outcome = .fails(.responseBodySize)
        let filling = [UInt8](repeating: UInt8(ascii: "a"), count: answerMax + dice.number(1...200))
        if dice.chance(0.5) {
            act.pieces = [
                Array("HTTP/1.1 200 OK\r\nContent-Length: \(filling.count)\r\n\r\n".utf8)
            ]
        } else {
            let size = String(filling.count, radix: 16)
            act.pieces = [
                Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n".utf8)
                    + filling
            ]
        }
        return act
    }

    /// A good answer, and a second one that nobody asked for.
    private func smuggling() -> Act {
        var act = whole(status: 200, tree: tree(), plainly: true)
        let (head, body) = sized(200, .members(["mark": .text("smuggled")]))
        act.pieces = [act.pieces.flatMap { $0 } + head + body]
        act.isPoisonous = true
        return act
    }

    // MARK: A whole answer

    /// What backends say: their mark in every place that may reach a client.
    func tree() -> Tree {
        .members([
            "mark": .text(mark), "call": .text(key), "serial": .text(serial),
            "segment": .text(dice.pick(["blue", "a/b c", "100%", "\u{e9}t\u{e9}?#&"])),
            "price": .scalar("19.90"), "big": .scalar("9007199254740993"),
            "items": .array([
                .members(["id": .scalar("1"), "serial": .text(serial), "price": .scalar("1e400")]),
                .members(["id": .scalar("2"), "more": .array([])]),
            ]),
            "nest": .members(["a": .text("x y"), "b": .null]),
        ])
    }

    private func whole(status: Int, tree: Tree, plainly: Bool = false) -> Act {
        guard !plainly, dice.chance(rates[.oddAnswers]) else {
            return whole(
                status: status, body: Array(tree.written.utf8), tree: tree, plainly: plainly)
        }
        switch dice.number(0...3) {
        case 0: return whole(status: status, body: [], tree: .null)
        case 1:
            return whole(
                status: status, body: Array(" \r\n\t\(tree.written)\n".utf8), tree: tree)
        case 2:
            let other = dice.pick([
                .scalar("true"), .null, .scalar("-0.0"), .text(mark), Tree.array([.text(mark)]),
            ])
            return whole(status: status, body: Array(other.written.utf8), tree: other)
        default: return whole(status: status, body: Array(tree.written.utf8), tree: tree)
        }
    }

    private func whole(
        status: Int, body: [UInt8], tree: Tree?, plainly: Bool = false
    ) -> Act {
        var act = Act()
        let isBare = status == 204 || status == 304
        act.outcome = .answer(
            status: status, body: isBare ? [] : body, tree: isBare ? .null : tree)
        var head = head(status)
        let framing = plainly || isBare || !dice.chance(rates[.oddAnswers]) ? 0 : dice.number(1...5)
        switch framing {
        case 1:
            act.pieces = [Array((head + "Transfer-Encoding: chunked\r\n\r\n").utf8), chunked(body)]
        case 2:
            act.pieces = [Array((head + "\r\n").utf8), body]
            act.ending = dice.pick([.closes, .halfCloses])
            act.endsWithConnection = true
        case 3:
            head = "HTTP/1.0" + head.dropFirst(8)
            act.pieces = [Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8), body]
        case 4:
            head += "Connection: close\r\nContent-Length: \(body.count)\r\n\r\n"
            act.pieces = [Array(head.utf8), body]
            act.ending = dice.pick([.stays, .closes, .halfCloses])
        case 5:
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
            head = interim + head + "Content-Length: \(body.count)\r\n\r\n"
            act.pieces = [Array(head.utf8), body]
        default:
            head += isBare ? "\r\n" : "Content-Length: \(body.count)\r\n\r\n"
            act.pieces = [Array(head.utf8), isBare ? [] : body]
        }
        act.answerLength = act.byteCount
        if !isBare, body.count > answerMax { act.outcome = .fails(.responseBodySize) }
        return act
    }

    private func head(_ status: Int) -> String {
        var head = "HTTP/1.1 \(status) Some Words\r\nETag: \"\(mark)\"\r\n"
        if status == 503 {
            head += "Retry-After: \(dice.pick(["0", "1", "-5", "9223372036854775807", "soon"]))\r\n"
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
            let count = min(dice.number(1...200), body.count - position)
            bytes += Array("\(String(count, radix: 16))\r\n".utf8)
            bytes += body[position..<position + count]
            bytes += [0x0D, 0x0A]
            position += count
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }
}
