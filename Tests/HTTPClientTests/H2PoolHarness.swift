import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// A pool with HTTP/2 connections to a scripted backend on a simulated network.
final class H2PoolHarness: PoolTestHarness {
    let testbed: Testbed
    let backend: ScriptedH2Backend
    let pool: Pool

    static let settings: PoolSettings = {
        var settings = PoolSettings()
        settings.protocolChoice = .http2
        return settings
    }()

    /// By default the backend responds to every request with its path.
    init(
        seed: UInt64 = 1, _ settings: PoolSettings = H2PoolHarness.settings,
        _ script: @escaping (H2BackendExchange) -> Void = { $0.respond($0.path) }
    ) throws {
        testbed = Testbed(seed: seed, subject: "client", peers: "backend")
        backend = try ScriptedH2Backend(on: testbed.peerLoop, at: PoolHarness.address, script)
        pool = Pool(
            origin: Origin(host: "127.0.0.1", port: 7001), settings: settings, loop: testbed.loop)
    }

    /// Sends a request; nothing happens before the time advances.
    func send(
        _ method: HTTP.Method = .get, _ path: String = "/", body: Body = .described(length: nil),
        responseBytesMax: Int = 1000, within limit: Duration? = nil
    ) -> SentRequest {
        let request = ClientRequest(method, path, body: body, responseBytesMax: responseBytesMax)
        return SentRequest(
            pool.send(request, within: limit.map { TimeLimit($0, error: TimedOut()) }))
    }

    struct TimedOut: Error {}

    /// Sends a request, and advances the time until its outcome is known.
    func outcome(_ method: HTTP.Method = .get, _ path: String = "/") -> String {
        outcome(of: send(method, path))
    }

    /// Sends a request with a streamed response, and advances the time until its head is there.
    func streamed(_ method: HTTP.Method = .get, body: Body = .empty) throws -> ClientResponse {
        let promise = pool.sendStreaming(ClientRequest(method, body: body))
        advance(by: .milliseconds(10))
        return try #require(promise.value)
    }
}
