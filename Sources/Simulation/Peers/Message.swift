/// A message of HTTP/1.1 as the simulated peers read it: strictly, and with code of its own, so that
/// what the gateway writes is not judged by the gateway's own reader.
struct Message {
    let startLine: String
    let fields: [(name: String, value: String)]
    let body: [UInt8]
    /// All of its bytes.
    let length: Int

    enum Reading {
        case needsMore
        case message(Message)
        case broken(String)
    }

    /// All values of a header.
    func all(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    subscript(name: String) -> String? { all(name).first }

    /// Of an answer; 0 for a request.
    var status: Int {
        let words = startLine.split(separator: " ")
        return startLine.hasPrefix("HTTP/1.1 ") && words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    /// - Parameter answersHead: a length is told and no body comes
    static func read(_ bytes: ArraySlice<UInt8>, answersHead: Bool = false) -> Reading {
        guard let end = endOfHead(bytes) else { return .needsMore }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: true)
        guard let startLine = lines.first else { return .broken("an empty head") }
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
                return .broken("a line without a name: \(line)")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields.append((String(line[..<colon]), String(value)))
        }
        let head = Message(
            startLine: String(startLine), fields: fields, body: [], length: end - bytes.startIndex)
        return head.withBody(of: bytes, answersHead: answersHead)
    }

    private func withBody(of bytes: ArraySlice<UInt8>, answersHead: Bool) -> Reading {
        let lengths = all("Content-Length")
        guard lengths.count <= 1, all("Transfer-Encoding").isEmpty else {
            return .broken("framed in an unexpected way: \(fields)")
        }
        let isBare = answersHead || (100..<200).contains(status) || status == 204 || status == 304
        guard let count = lengths.first.map({ Int($0) }) ?? 0, count >= 0 else {
            return .broken("a length of \(lengths)")
        }
        let told = isBare ? 0 : count
        guard bytes.count >= length + told else { return .needsMore }
        let body = bytes.dropFirst(length).prefix(told)
        return .message(
            Message(
                startLine: startLine, fields: fields, body: Array(body), length: length + told))
    }

    private static func endOfHead(_ bytes: ArraySlice<UInt8>) -> Int? {
        var position = bytes.startIndex
        while position + 3 < bytes.endIndex {
            if bytes[position] == 0x0D, bytes[position + 1] == 0x0A, bytes[position + 2] == 0x0D,
                bytes[position + 3] == 0x0A
            {
                return position + 4
            }
            position += 1
        }
        return nil
    }
}
