import Basics
import Foundation
import Reactor
import TLS
import TestCertificates

extension FuzzTarget {
    /// The first bytes of a client at a listener with TLS, in two pieces: the handshake never completes,
    /// because it needs the client's answer to the server's random, and the response is short.
    static let hello = FuzzTarget(
        name: "hello",
        tokens: [
            "\u{16}\u{3}\u{1}", "\u{16}\u{3}\u{3}", "\u{1}\u{0}", "\u{0}\u{2b}", "\u{0}\u{0}",
            "\u{0}\u{10}", "\u{0}\u{29}", "\u{3}\u{4}", "\u{3}\u{3}", "h2", "http/1.1", "shop.test",
            "a.shop.test", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{1}\u{0}", "GET / HTTP/1.1\r\n",
        ]
    ) { input in
        guard let context = HelloListener.context.value,
            let engine = try? context.engine(
                unixTime: Certificates.now, tickets: HelloListener.tickets)
        else { return "no engine" }
        let half = input.count / 2
        for piece in [Array(input[..<half]), Array(input[half...])] {
            engine.receive(piece.span)
            if engine.continueHandshake() == .done { return "the handshake completed" }
        }
        guard engine.outgoingCount <= HelloListener.responseBytesMax else {
            return "a response of \(engine.outgoingCount) bytes"
        }
        return nil
    }
}

/// A listener with several names and key types, which requests a certificate of clients.
private enum HelloListener {
    /// The certificates and the list of authorities take less.
    static let responseBytesMax = 8 * 1024
    static let tickets = TLSTicketKeys()

    static let context = Box(value: try? makeContext())

    struct Box: Sendable {
        let value: TLSServerContext?
    }

    private static func makeContext() throws -> TLSServerContext {
        var settings = TLSServerSettings(
            certificates: try ["shop", "shop-rsa", "partners"].map {
                try Certificates.identity($0)
            })
        settings.clients = TLSServerSettings.Clients(
            authorities: try Certificates.file("authority.pem"), isRequired: false)
        settings.ticketLifetime = .seconds(3600)
        return try TLSServerContext(settings)
    }
}
