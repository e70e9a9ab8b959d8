import Basics
import HTTP
import HTTPClient
import Testing

@testable import Gateway

/// The gateway's own handshake of WebSocket with a backend (RFC 6455 4).
@Suite struct WebSocketHandshakeTests {
    /// RFC 6455 1.3.
    @Test func computesTheValueOfTheExample() {
        let accept = WebSocketHandshake.accept(for: Array("dGhlIHNhbXBsZSBub25jZQ==".utf8))
        #expect(accept == Bytes("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
    }

    @Test func keyReplacesThatOfTheClient() throws {
        let handshake = WebSocketHandshake(from: Entropy(seed: 1))
        var fields: Fields = ["X-A": "1", "sec-websocket-key": "forged"]
        handshake.addKey(to: &fields)
        #expect(fields.count == 2 && fields["X-A"] == "1")
        let key = try #require(fields.single("Sec-WebSocket-Key"))
        #expect(Base64.bytes(key.bytes)?.count == 16)
        var others = Fields()
        WebSocketHandshake(from: Entropy(seed: 2)).addKey(to: &others)
        #expect(others["Sec-WebSocket-Key"] != key)
    }
}
