import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// A pool and a scripted backend on a simulated network.
final class PoolHarness: Harness {
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

    func outcome(of sent: SentRequest) -> String {
        network.run(until: { sent.outcome != nil })
        return sent.outcome ?? "nothing"
    }

    /// Advances the time.
    func advance(by duration: Duration) { testbed.advance(by: duration) }

    /// The counts of the pool as a text.
    var counts: String {
        "\(pool.inFlight) in flight, \(pool.idle) idle, \(pool.connections) open"
    }

    /// Closes both sides and expects that nothing stays open.
    func expectQuiet(_ location: SourceLocation = #_sourceLocation) {
        pool.close()
        advance(by: .seconds(1))
        #expect(counts == "0 in flight, 0 idle, 0 open", sourceLocation: location)
        backend.close()
        expectNothingOpen(location)
    }
}

/// A sent request and its outcome.
final class SentRequest {
    let promise: LocalPromise<ClientResponse>
    /// Status and body, or the kind of the failure.
    private(set) var outcome: String?

    init(_ promise: LocalPromise<ClientResponse>) {
        self.promise = promise
        promise.whenSettled { result in
            switch result {
            case .success(let response):
                self.outcome = "\(response.status) \(String(response.content))"
            case .failure(let failure as ClientFailure): self.outcome = "\(failure.kind)"
            case .failure(let error): self.outcome = "\(type(of: error))"
            }
        }
    }

    func cancel() { promise.cancel() }
}
