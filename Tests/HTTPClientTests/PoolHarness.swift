import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// A pool and a scripted backend on a simulated network.
final class PoolHarness: PoolTestHarness {
    let testbed: Testbed
    var loop: SimLoop { testbed.loop }
    var backendLoop: SimLoop { testbed.peerLoop }
    let backend: ScriptedBackend
    let pool: Pool

    static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 7001)

    /// By default the backend responds to every request with its path.
    init(
        seed: UInt64 = 1, host: String = "127.0.0.1", _ settings: PoolSettings = PoolSettings(),
        _ script: @escaping (BackendExchange) -> Void = { $0.respond($0.path) }
    ) throws {
        testbed = Testbed(seed: seed, subject: "client", peers: "backend")
        backend = try ScriptedBackend(on: testbed.peerLoop, at: PoolHarness.address, script)
        pool = Pool(
            origin: Origin(host: host, port: 7001), settings: settings, loop: testbed.loop)
    }

    /// Sends a request; nothing happens before the time advances.
    func send(
        _ method: HTTP.Method = .get, _ path: String = "/", body: String = "",
        responseBytesMax: Int = 1000
    ) -> SentRequest {
        SentRequest(request(method, path, body: body, responseBytesMax: responseBytesMax))
    }

    /// The promise of `send`, for tests that add operators to it.
    func request(
        _ method: HTTP.Method = .get, _ path: String = "/", body: String = "",
        responseBytesMax: Int = 1000
    ) -> LocalPromise<ClientResponse> {
        pool.send(
            ClientRequest(
                method, path, host: pool.origin.hostFieldValue, body: .bytes(Bytes(body)),
                responseBytesMax: responseBytesMax))
    }

    /// Sends a request, and advances the time until its outcome is known.
    func outcome(
        _ method: HTTP.Method = .get, _ path: String = "/", body: String = "",
        responseBytesMax: Int = 1000
    ) -> String {
        let sent = send(method, path, body: body, responseBytesMax: responseBytesMax)
        return outcome(of: sent)
    }
}
