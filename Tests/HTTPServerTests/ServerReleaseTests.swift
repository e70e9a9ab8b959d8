import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// Connections hold what they share, and not their server: it is released when they are closed, whatever
/// they do.
@Suite struct ServerReleaseTests {
    enum Activity: CaseIterable {
        case idle, partOfRequest, request, stream, handshake, preface, http2Idle, http2Request
    }

    @Test(arguments: Activity.allCases)
    func closingReleasesWhatConnectionsShare(_ activity: Activity) throws {
        let handshakes = HandshakeTests.Handshakes()
        let harness = try Self.harness(activity, handshakes)
        let peer = try Self.begin(activity, harness)
        weak let server = harness.server
        weak let context = harness.server.context
        weak let table = harness.server.table
        harness.onServer { harness.releaseServer() }
        harness.advance()
        #expect(server == nil)
        #expect(table?.count == 1 && context != nil, "its connection holds them")
        harness.onServer { table?.close() }
        harness.advance()
        #expect(table == nil && context == nil)
        withExtendedLifetime((peer, handshakes)) {}
    }

    private static func harness(
        _ activity: Activity, _ handshakes: HandshakeTests.Handshakes
    ) throws -> ServerHarness {
        switch activity {
        case .idle, .partOfRequest: return try ServerHarness()
        case .request: return try ServerHarness(service: ServerHarness.deferred)
        case .stream:
            return try ServerHarness { _, _, exchange in
                exchange.local.value(
                    Response(status: .ok, body: .stream(ScriptedBody(.length(10)))))
            }
        case .handshake:
            var listener = ListenerSettings()
            listener.security = handshakes.security
            return try ServerHarness(listeners: [listener])
        case .preface, .http2Idle: return try ServerHarness.http2()
        case .http2Request: return try ServerHarness.http2(service: ServerHarness.deferred)
        }
    }

    /// A client whose connection is active in this way.
    private static func begin(_ activity: Activity, _ harness: ServerHarness) throws -> AnyObject {
        defer { harness.advance() }
        switch activity {
        case .http2Idle: return try H2Client(harness)
        case .http2Request:
            let client = try H2Client(harness)
            _ = try client.send(.get, "/")
            return client
        case .idle, .partOfRequest, .request, .stream, .handshake, .preface:
            let peer = try harness.connect()
            if activity == .partOfRequest { peer.send("GET / HTTP") }
            if [.idle, .request, .stream].contains(activity) { peer.send(get()) }
            return peer
        }
    }
}
