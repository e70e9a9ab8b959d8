import Basics
package import HTTP

/// What only a call with a streamed response has: the fields of its
/// connection, and the receiver of interim responses. Confined to its loop.
package protocol StreamedCall: AnyObject {
    /// The backend decides before the body is sent (RFC 9110 10.1.1). The source of the body waits for
    /// the interim response 100.
    var expectsContinue: Bool { get }
    /// The client accepts trailers (RFC 9110 6.5.1).
    var acceptsTrailers: Bool { get }
    /// The protocol that the client wants to switch to (RFC 9110 7.8), with its version; nil for none.
    var upgrade: FieldValue? { get }

    /// The head of an interim response arrived (RFC 9110 15.2).
    func receiveInterim(_ head: ResponseHead)
}

extension TextBuffer {
    /// Appends the fields of the connection.
    mutating func append(_ call: any StreamedCall) {
        if call.expectsContinue { append(literal: "Expect: 100-continue\r\n") }
        if call.acceptsTrailers { append(literal: "TE: trailers\r\nConnection: TE\r\n") }
        if let upgrade = call.upgrade {
            append(literal: "Connection: Upgrade\r\nUpgrade: ")
            append(upgrade.bytes)
            append(literal: "\r\n")
        }
    }
}
