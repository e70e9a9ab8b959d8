import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// A gateway whose endpoints pass requests through to backend `a`, with a client and a backend that
/// the test controls byte by byte.
final class ProxyHarness {
    let gateway: GatewayHarness
    private(set) var clients: [ScriptedPeer] = []
    /// The last complete request of each connection, by its number.
    private var complete: [Int: String] = [:]

    /// - Parameters:
    ///   - proxy: the keys of `proxy`, in flow style
    ///   - route: of the endpoint
    ///   - endpoint: more lines of the endpoint
    ///   - backend: more of the backend, in flow style
    ///   - top: more lines of the file
    init(
        _ proxy: String = "to: a", route: String = "ANY /x/*", endpoint: String = "",
        backend: String = "", top: String = "", files: [String: String] = [:], seed: UInt64 = 1
    ) throws {
        gateway = try GatewayHarness(
            config: Self.text(proxy, route, endpoint, backend, top), files: files, seed: seed)
        // The test sends the responses.
        gateway.backend()?.script = { [unowned self] exchange in
            complete[exchange.connection] = exchange.request.text
        }
    }

    static func text(
        _ proxy: String, _ route: String = "ANY /x/*", _ endpoint: String = "",
        _ backend: String = "", _ top: String = ""
    ) -> String {
        let url = backend.contains("urls:") ? "" : "url: \"http://127.0.0.1:7001\", "
        return """
            version: 1
            \(top)
            backends:
              a: { \(url)\(backend) }
            endpoints:
              - route: \(route)
            \(endpoint.indented(4))
                proxy: { \(proxy) }
            """
    }

    // MARK: The client

    /// A new connection that sends this.
    @discardableResult
    func send(_ text: String) throws -> ScriptedPeer {
        let client = ScriptedPeer(try gateway.stream())
        clients.append(client)
        client.send(text)
        pass(1)
        return client
    }

    // MARK: The backend

    /// The connections that the backend accepted.
    var connections: [ScriptedPeer] { gateway.backend()?.peers ?? [] }

    /// The last one.
    func backend() throws -> ScriptedPeer { try #require(connections.last) }

    /// What the backend received on its last connection: the last complete request, and what follows.
    var received: String {
        (complete[connections.count] ?? "") + (connections.last?.text ?? "")
    }

    /// Forgets what the backend received on its last connection.
    func clearReceived() throws {
        complete[connections.count] = nil
        try backend().clearReceived()
    }

    /// Sends bytes from the backend's last connection.
    func respond(_ text: String) throws {
        try backend().send(text)
        pass(1)
    }

    func pass(_ milliseconds: Double) { gateway.pass(milliseconds) }

    func expectQuiet(_ location: SourceLocation = #_sourceLocation) {
        for client in clients { client.stream.close() }
        gateway.pass(1)
        gateway.expectQuiet(location)
    }

    /// The values of a key in the lines of the log.
    func logged(_ key: String) -> [String] { gateway.logged(key) }
}

extension GatewayHarness {
    /// The values of a key in the lines of the log.
    func logged(_ key: String) -> [String] {
        logged.compactMap { line in
            guard let start = line.firstRange(of: "\"\(key)\":") else { return nil }
            return String(line[start.upperBound...].prefix { $0 != "," && $0 != "}" })
                .replacing("\"", with: "")
        }
    }
}

/// A part of a text: what stands behind its first empty line.
func bodyPart(_ text: String) -> String {
    text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
}
