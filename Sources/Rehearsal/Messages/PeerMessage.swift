/// An HTTP/1.1 message as simulated peers read it: strictly, and with code of their own, so that the
/// gateway's parser does not check what the gateway's writer wrote.
package struct PeerMessage {
    /// `HTTP/1.1 `: a gateway may send these bytes of a response before the response is known, to find out whether the
    /// client still exists. The next byte shows that it was written.
    package static let versionBytes = 9

    private let head: [UInt8]
    private let lines: [FieldLine]
    private let startLineEnd: Int
    package let body: [UInt8]
    /// Number of the bytes that the body was sent in: with chunks, more than its own.
    private var sentBodyBytes: Int?
    /// The status of a response; 0 for a request.
    package let status: Int

    /// The ranges of a field's name and value in the head.
    private struct FieldLine {
        let name: Range<Int>
        let value: Range<Int>
    }

    package enum Reading {
        case needsMore
        case message(PeerMessage)
        case broken(String)
    }

    /// Number of all its bytes.
    package var length: Int { head.count + (sentBodyBytes ?? body.count) }

    package var startLine: String { String(decoding: head[..<startLineEnd], as: UTF8.self) }

    /// All values of a header field.
    package func all(_ name: String) -> [String] {
        lines.filter { hasName($0, name) }.map {
            String(decoding: head[$0.value], as: UTF8.self)
        }
    }

    package subscript(name: String) -> String? {
        guard let line = lines.first(where: { hasName($0, name) }) else { return nil }
        return String(decoding: head[line.value], as: UTF8.self)
    }

    private func hasName(_ line: FieldLine, _ name: String) -> Bool {
        let name = name.utf8
        return line.name.count == name.count
            && zip(line.name, name).allSatisfy { head[$0] | 0x20 == $1 | 0x20 }
    }

    // MARK: Reading

    /// - Parameter isResponseToHead: the message has no body, although it may state a length
    package static func read(_ bytes: [UInt8], isResponseToHead: Bool = false) -> Reading {
        let reading = readHead(bytes)
        guard case .message(let head) = reading else { return reading }
        return head.withBody(of: bytes, isResponseToHead: isResponseToHead)
    }

    /// Reads the head only, whatever follows it.
    package static func readHead(_ bytes: [UInt8]) -> Reading {
        guard let end = endOfHead(bytes.span) else { return .needsMore }
        let head = Array(bytes[..<end])
        var lines: [FieldLine] = []
        var startLineEnd: Int?
        var start = 0
        while start < head.count - 2 {
            let lineEnd = endOfLine(head.span, from: start)
            if startLineEnd == nil {
                startLineEnd = lineEnd
            } else {
                guard let line = fieldLine(head.span, start..<lineEnd) else {
                    return .broken(
                        "a field line without a name: "
                            + String(decoding: head[start..<lineEnd], as: UTF8.self))
                }
                lines.append(line)
            }
            start = lineEnd + 2
        }
        return .message(
            PeerMessage(
                head: head, lines: lines, startLineEnd: startLineEnd ?? 0, body: [],
                status: status(head)))
    }

    /// The same head with a body that was read piece by piece.
    package func withBody(_ body: [UInt8]) -> PeerMessage {
        PeerMessage(
            head: head, lines: lines, startLineEnd: startLineEnd, body: body, status: status)
    }

    /// All fields, in this order.
    package var fields: [(name: String, value: String)] {
        lines.map {
            (
                String(decoding: head[$0.name], as: UTF8.self),
                String(decoding: head[$0.value], as: UTF8.self)
            )
        }
    }

    private func withBody(of bytes: [UInt8], isResponseToHead: Bool) -> Reading {
        let lengths = all("Content-Length")
        let isBare =
            isResponseToHead || (100..<200).contains(status) || status == 204 || status == 304
        if lengths.isEmpty, status > 0, !isBare, all("Transfer-Encoding") == ["chunked"] {
            return withChunks(bytes[head.count...])
        }
        guard lengths.count <= 1, all("Transfer-Encoding").isEmpty || isBare else {
            return .broken("several lengths, or a transfer coding")
        }
        guard let count = lengths.first.map({ Int($0) }) ?? 0, count >= 0 else {
            return .broken("an invalid length: \(lengths)")
        }
        let length = isBare ? 0 : count
        guard bytes.count - head.count >= length else { return .needsMore }
        return .message(
            PeerMessage(
                head: head, lines: lines, startLineEnd: startLineEnd,
                body: Array(bytes[head.count..<head.count + length]), status: status))
    }

    /// Chunks without extensions and trailers (RFC 9112 7.1).
    private func withChunks(_ bytes: ArraySlice<UInt8>) -> Reading {
        var (rest, body) = (bytes, [UInt8]())
        while let end = rest.firstIndex(of: 0x0A) {
            let line = rest[rest.startIndex..<end]
            guard line.last == 0x0D,
                let count = Int(String(decoding: line.dropLast(), as: UTF8.self), radix: 16)
            else { return .broken("not the size of a chunk") }
            let start = end + 1
            guard rest.endIndex >= start + count + 2 else { return .needsMore }
            guard rest[start + count] == 0x0D, rest[start + count + 1] == 0x0A else {
                return .broken("a chunk of another size")
            }
            body += rest[start..<start + count]
            rest = rest[(start + count + 2)...]
            guard count == 0 else { continue }
            var message = withBody(body)
            message.sentBodyBytes = bytes.count - rest.count
            return .message(message)
        }
        return .needsMore
    }

    private static func endOfHead(_ bytes: Span<UInt8>) -> Int? {
        var position = 3
        while position < bytes.count {
            if bytes[position] == 0x0A, bytes[position - 1] == 0x0D, bytes[position - 2] == 0x0A,
                bytes[position - 3] == 0x0D
            {
                return position + 1
            }
            position += 1
        }
        return nil
    }

    /// Lines end with CRLF. There is one, since the end of the head was found.
    private static func endOfLine(_ head: Span<UInt8>, from start: Int) -> Int {
        var position = start
        while position + 1 < head.count, head[position] != 0x0D || head[position + 1] != 0x0A {
            position += 1
        }
        return position
    }

    private static func fieldLine(_ head: Span<UInt8>, _ line: Range<Int>) -> FieldLine? {
        guard let colon = line.first(where: { head[$0] == UInt8(ascii: ":") }),
            colon > line.lowerBound
        else { return nil }
        var value = colon + 1
        while value < line.upperBound, head[value] == 0x20 { value += 1 }
        return FieldLine(name: line.lowerBound..<colon, value: value..<line.upperBound)
    }

    private static func status(_ head: [UInt8]) -> Int {
        guard head.starts(with: "HTTP/1.1 ".utf8) else { return 0 }
        return Int(String(decoding: head.dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
    }
}

extension PeerMessage {
    private var target: Substring.UTF8View {
        let line = Substring(startLine).utf8
        let words = line.split(separator: 0x20)
        return words.count > 1 ? words[1] : Substring().utf8
    }

    /// The path of a request's target, without the query.
    package var path: String { String(Substring(target.prefix { $0 != UInt8(ascii: "?") })) }

    /// The parameters of a request's query, decoded.
    package var query: [(name: String, value: String)] {
        let target = target
        guard let mark = target.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return target[mark...].dropFirst().split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let value = pair.dropFirst(name.count + 1)
            return (String(Substring(name)).percentDecoded, String(Substring(value)).percentDecoded)
        }
    }
}
