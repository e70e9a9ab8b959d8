import Foundation

/// One HTTP message, read from a socket in the simplest way: a head, and the body of
/// `Content-Length` bytes.
struct Message {
    let startLine: String
    let fields: [(name: String, value: String)]
    let body: String

    /// The next message; nil if the other side has ended the connection.
    init?(from socket: Socket, kept rest: inout [UInt8]) throws {
        let separator = Array("\r\n\r\n".utf8)
        var end = rest.firstRange(of: separator)
        while end == nil {
            let chunk = try socket.receive()
            if chunk.isEmpty { return nil }
            rest += chunk
            end = rest.firstRange(of: separator)
        }
        guard let end else { return nil }
        let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            .components(separatedBy: "\r\n")
        startLine = lines[0]
        fields = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            return (
                name.lowercased(),
                line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
            )
        }
        rest.removeSubrange(..<end.upperBound)
        let length = fields.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        while rest.count < length {
            let chunk = try socket.receive()
            if chunk.isEmpty { return nil }
            rest += chunk
        }
        body = String(decoding: rest.prefix(length), as: UTF8.self)
        rest.removeFirst(length)
    }

    subscript(name: String) -> String? {
        fields.first { $0.name == name.lowercased() }?.value
    }

    /// The status of a response.
    var status: Int { Int(startLine.split(separator: " ").dropFirst().first ?? "") ?? 0 }

    /// The target of a request.
    var target: String { startLine.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
}
