/// A client with one connection.
final class Client {
    let socket: Socket
    private var rest: [UInt8] = []

    init(_ address: String) throws {
        socket = try Socket(connectedTo: address)
    }

    /// Sends a request such as `GET /home`.
    func send(
        _ request: String, _ fields: [String] = [], host: String = "test", body: String? = nil
    ) throws {
        var text = "\(request) HTTP/1.1\r\nHost: \(host)\r\n"
        for field in fields { text += field + "\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        try socket.send(text + "\r\n" + (body ?? ""))
    }

    /// Reads the next response; throws if the connection ends instead.
    func readResponse() throws -> Message {
        guard let message = try Message(from: socket, kept: &rest) else {
            throw Limit.Passed("a response, and the connection ended")
        }
        return message
    }

    /// Whether the other side ends the connection without another byte.
    func isEnded() throws -> Bool { try rest.isEmpty && socket.receive().isEmpty }

    /// Closes the connection, so that the other side does not wait for it.
    func close() { socket.shutDown() }

    /// Sends one request on a new connection.
    static func request(
        _ address: String, _ request: String, _ fields: [String] = [], host: String = "test",
        body: String? = nil
    ) throws -> Message {
        let client = try Client(address)
        try client.send(request, fields, host: host, body: body)
        return try client.readResponse()
    }
}
