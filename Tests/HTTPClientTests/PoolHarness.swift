import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// One pool, one scripted backend, one simulated network between them.
final class PoolHarness: Harness {
    let testbed: Testbed
    var network: SimNetwork { testbed.network }
    var loop: SimLoop { testbed.loop }
    var backendLoop: SimLoop { testbed.peerLoop }
    let backend: ScriptedBackend
    let pool: Pool

    static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 7001)

    /// By default every request is answered with its path.
    init(
        seed: UInt64 = 1, host: String = "127.0.0.1", _ settings: PoolSettings = PoolSettings(),
        _ script: @escaping (BackendExchange) -> Void = { $0.answer($0.path) }
    ) throws {
        testbed = Testbed(seed: seed, subject: "client", peers: "backend")
        backend = try ScriptedBackend(on: testbed.peerLoop, at: PoolHarness.address, script)
        pool = Pool(
            origin: Origin(host: host, port: 7001), settings: settings, loop: testbed.loop)
    }

    /// Sends a request; nothing happens before time passes.
    func send(
        _ method: HTTP.Method = .get, _ path: String = "/", body: String = "", answerMax: Int = 1000
    ) -> Sent {
        Sent(request(method, path, body: body, answerMax: answerMax))
    }

    /// The bare promise of `send`, for who wants to put something on it.
    func request(
        _ method: HTTP.Method = .get, _ path: String = "/", body: String = "", answerMax: Int = 1000
    ) -> LocalPromise<ClientResponse> {
        pool.send(
            ClientRequest(
                method, path, host: pool.origin.hostFieldValue, body: .bytes(Bytes(body)),
                responseBytesMax: answerMax))
    }

    /// Sends a request, and lets time pass until its outcome is known.
    func outcome(
        _ method: HTTP.Method = .get, _ path: String = "/", body: String = "", answerMax: Int = 1000
    ) -> String {
        let sent = send(method, path, body: body, answerMax: answerMax)
        return outcome(of: sent)
    }

    func outcome(of sent: Sent) -> String {
        network.run(until: { sent.outcome != nil })
        return sent.outcome ?? "nothing"
    }

    /// Lets time pass.
    func pass(_ duration: Duration) { testbed.pass(duration) }

    /// What the pool counts, in words: it shows at a glance what a test is about.
    var counts: String {
        "\(pool.inFlight) in flight, \(pool.idle) idle, \(pool.connections) open"
    }

    /// Closes both sides; nothing may be left alive.
    func expectQuiet(_ location: SourceLocation = #_sourceLocation) {
        pool.close()
        pass(.seconds(1))
        #expect(counts == "0 in flight, 0 idle, 0 open", sourceLocation: location)
        backend.close()
        network.runUntilQuiet()
        #expect(network.leftovers == [], sourceLocation: location)
    }
}

/// One request that was sent, and what came of it.
final class Sent {
    let promise: LocalPromise<ClientResponse>
    /// Status and body, or the kind of the failure.
    private(set) var outcome: String?

    init(_ promise: LocalPromise<ClientResponse>) {
        self.promise = promise
        promise.whenSettled { result in
            switch result {
            case .success(let answer): self.outcome = "\(answer.status) \(String(answer.content))"
            case .failure(let failure as ClientFailure): self.outcome = "\(failure.kind)"
            case .failure(let error): self.outcome = "\(type(of: error))"
            }
        }
    }

    func cancel() { promise.cancel() }
}
