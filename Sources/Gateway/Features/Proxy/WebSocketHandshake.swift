import Basics
import HTTP
import HTTPClient
import TLS

/// The gateway's handshake with a backend for a client that opens a WebSocket on a stream of HTTP/2
/// (RFC 8441 5.1): the client has sent no key, so the gateway sends its own, and checks the answer.
struct WebSocketHandshake {
    private let key: FieldValue
    /// The value of `Sec-WebSocket-Accept` that proves that the backend has understood the handshake;
    /// nil if the system forbids SHA-1.
    private let accept: Bytes?

    /// - Parameter entropy: for the key of 16 bytes (RFC 6455 4.1)
    init(from entropy: Entropy) {
        var nonce: [UInt8] = []
        for _ in 0..<2 {
            let word = entropy.next()
            for shift in stride(from: 0, to: 64, by: 8) {
                nonce.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        var text: [UInt8] = []
        text.append(base64: nonce.span)
        key = FieldValue(Bytes(text)) ?? ""
        accept = Self.accept(for: text)
    }

    /// RFC 6455 4.2.2.
    static func accept(for key: [UInt8]) -> Bytes? {
        SHA1.hash(key + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)).map { hash in
            var text: [UInt8] = []
            text.append(base64: hash.span)
            return Bytes(text)
        }
    }

    /// Adds the key, in place of one that the client has sent.
    func addKey(to fields: inout Fields) { fields.set("Sec-WebSocket-Key", key) }

    /// The response for the client. Throws if the backend has not accepted the handshake and the
    /// client would take its response for acceptance.
    func response(to response: ClientResponse) throws(CallFailure) -> ClientResponse {
        guard case .tunnel = response.body else {
            // Every 2xx opens the tunnel (RFC 9110 9.3.6).
            guard (200..<300).contains(response.status.code) else { return response }
            throw .connection(.refusedUpgrade)
        }
        guard let accept, response.fields.single("Sec-WebSocket-Accept")?.bytes == accept else {
            throw .connection(.refusedUpgrade)
        }
        var fields = response.fields
        fields.removeAll("Sec-WebSocket-Accept")
        return ClientResponse(
            status: .ok, fields: fields, body: response.body, attempt: response.attempt)
    }
}
