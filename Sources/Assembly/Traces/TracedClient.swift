import Basics
import Gateway
import HTTP

/// The client of a sampled request, and how it named the server.
package struct TracedClient: Sendable {
    /// Without a port; nil on a unix socket.
    package let address: String?
    package let scheme: String
    /// The host and the port of the request; nil if it named none.
    package let server: (address: String, port: UInt16?)?

    /// A longer host cannot exist in DNS; a client must not fill the memory with spans.
    private static let hostBytesMax = 262

    init(_ end: RequestEnd, _ proxies: TrustedProxies?) {
        let client = proxies.map { end.context.clientAddress(of: end.request, $0) }
        address = client?.text.map { String($0) } ?? end.context.peer.text
        let isSecure = end.context.peer.facts?.isSecure == true
        scheme =
            client?.statedScheme.flatMap { ["http", "https"].contains($0) ? $0 : nil }
            ?? (isSecure ? "https" : "http")
        let host =
            client?.statedHost ?? end.request.target.authority ?? end.request.fields[.host]?.bytes
        server = host.flatMap { $0.count <= Self.hostBytesMax ? Self.split(String($0)) : nil }
    }

    /// `host`, `host:port` or `[v6]:port`; the address has no brackets.
    private static func split(_ text: String) -> (address: String, port: UInt16?)? {
        guard !text.isEmpty else { return nil }
        let afterLiteral = text.lastIndex(of: "]") ?? text.startIndex
        let colon = text[afterLiteral...].lastIndex(of: ":") ?? text.endIndex
        let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
        return (host, UInt16(text[colon...].dropFirst()))
    }
}
