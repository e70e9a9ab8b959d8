import Rehearsal

/// How a host sends a response over HTTP/1.1, and breaks the protocol.
extension ResponseDraw {
    /// A head to its end, with more header fields.
    func text(_ status: Int, _ more: [PeerField], version: String = "HTTP/1.1") -> String {
        "\(version) \(status) Some Words\r\n"
            + (plainFields(status) + more).map { "\(Self.cased($0.name)): \($0.value)\r\n" }
            .joined() + "\r\n"
    }

    /// `Content-Length`, as most servers write it.
    private static func cased(_ name: String) -> String {
        name == "etag"
            ? "ETag"
            : name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
                .joined(separator: "-")
    }

    /// - Parameters:
    ///   - stated: what `Content-Length` states, also in a response to HEAD (RFC 9110 section 9.3.2)
    ///   - framing: 0 for the usual one
    func framedHTTP1(
        _ status: Int, _ body: [UInt8], stated: Int?, framing: Int
    ) -> ScriptedResponse {
        var script = ScriptedResponse()
        let length = stated.map { self.length($0) } ?? []
        var body = body
        let head: String
        switch framing {
        case 1:
            head = text(status, [("transfer-encoding", "chunked")])
            if !isResponseToHead { body = chunked(body) }
        case 2 where isResponseToHead: head = text(status, [])
        case 2:
            head = text(status, [])
            script.ending = random.pick([.closes, .halfCloses])
            script.endsWithConnection = true
        case 3: head = text(status, length, version: "HTTP/1.0")
        case 4:
            head = text(status, [("connection", "close")] + length)
            script.ending = random.pick([.stays, .closes, .halfCloses])
        case 5: head = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + text(status, length)
        default: head = text(status, length)
        }
        script.pieces = [Array(head.utf8), body]
        script.responseLength = script.byteCount
        return script
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

    func wrongLengthHTTP1() -> ScriptedResponse {
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

    func malformedHTTP1() -> ScriptedResponse {
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

    /// A valid response, followed by an unsolicited one.
    func smuggling() -> ScriptedResponse {
        let tree = tree()
        let body = Array(tree.written.utf8)
        var script = framedHTTP1(200, body, stated: body.count, framing: 0)
        let other = Array(Tree.members(["mark": .text("smuggled")]).written.utf8)
        script.outcome =
            body.count > responseMax
            ? .fails(.responseBodySize) : .response(status: 200, body: body, tree: tree)
        script.pieces = [
            script.pieces.flatMap { $0 } + Array(text(200, length(other.count)).utf8) + other
        ]
        script.hasTrailingData = true
        return script
    }
}
