import Basics
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// A client and a server in memory.
final class SessionPair {
    let client: H2Side
    let server: H2Side
    /// How the bytes are cut on the way.
    var piece = Int.max

    init(client: H2Limits = H2Limits(), server: H2Limits = H2Limits()) throws {
        self.client = try H2Side(.client, client)
        self.server = try H2Side(.server, server)
    }

    /// Carries bytes in both directions until there are none.
    func run(at ms: Int64 = 0) {
        for _ in 0..<10_000 {
            client.write(at: ms)
            let up = client.takeWritten()
            server.receive(up, piece: piece, at: ms)
            let down = server.takeWritten()
            client.receive(down, piece: piece, at: ms)
            if up.isEmpty, down.isEmpty, client.written.isEmpty { return }
        }
        Issue.record("the sessions do not become quiet")
    }
}
