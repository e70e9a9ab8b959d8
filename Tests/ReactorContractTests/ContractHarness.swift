import Basics
import Promises
import Reactor
import SimReactor
import Testing
import UVReactor

/// The two loops that must behave alike; and both again with TLS over every connection, for the
/// contract of streams.
enum Conformer: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case libuv, simulated, secureLibuv, secureSimulated

    static let loops: [Conformer] = [.libuv, .simulated]

    /// For work that never ends by itself: virtual time advances only when the loop has nothing
    /// left to do, so such work would stop the clock of the simulated loop.
    static let loopsInRealTime: [Conformer] = [.libuv]

    var isSecure: Bool { self == .secureLibuv || self == .secureSimulated }

    var testDescription: String { rawValue }
}

/// One test on one loop: it runs until `finish`, and nothing may stay open.
///
/// It does not use the `Testbed` of TestSupport: libuv's loop owns the thread while it runs and has no
/// virtual time, so a test is a chain of callbacks on either loop.
final class ContractHarness {
    let loop: any Loop
    private let stop: () -> Void
    private var owned: [() -> Void] = []

    init(loop: any Loop, stop: @escaping () -> Void) {
        self.loop = loop
        self.stop = stop
    }

    /// Registers an action for `finish`, for tests whose subject is not the closing.
    func own(_ close: @escaping () -> Void) { owned.append(close) }

    func finish() {
        for close in owned { close() }
        owned = []
        stop()
    }

    /// A connection through `loop`; neither end reads yet.
    func pair(_ body: @escaping (_ client: any ByteStream, _ server: any ByteStream) -> Void) {
        var client: (any ByteStream)?
        var server: (any ByteStream)?
        let bothThere = {
            if let client, let server { body(client, server) }
        }
        let listener = listen { [self] stream in
            own { stream.close() }
            server = stream
            bothThere()
        }
        guard let listener else { return }
        connect(to: listener.address) { stream in
            client = stream
            bothThere()
        }
    }

    /// Both ends of a connection, reading.
    func peers(_ body: @escaping (_ client: Peer, _ server: Peer) -> Void) {
        pair { client, server in body(Peer(client), Peer(server)) }
    }

    func listen(
        on address: SocketAddress = .loopback, _ accept: @escaping (any ByteStream) -> Void
    ) -> (any Listener)? {
        do throws(IOFailure) {
            let listener = try loop.listen(on: address, sharedPort: false, accept: accept)
            own { listener.close() }
            return listener
        } catch {
            Issue.record("cannot listen: \(error)")
            finish()
            return nil
        }
    }

    func connect(to address: SocketAddress, _ body: @escaping (any ByteStream) -> Void) {
        outcome(of: loop.connect(to: address)) { [self] result in
            switch result {
            case .success(let stream):
                own { stream.close() }
                body(stream)
            case .failure(let error):
                Issue.record("cannot connect: \(error)")
                finish()
            }
        }
    }

    func later(_ body: @escaping () -> Void) { loop.timer(after: .milliseconds(20), body) }
}

/// Runs a test on one of the loops until it calls `finish`.
func onLoop(
    _ conformer: Conformer, _ location: SourceLocation = #_sourceLocation,
    _ body: (ContractHarness) -> Void
) throws {
    let secure: (any Loop) throws -> any Loop = { loop in
        conformer.isSecure ? try SecureLoop(loop) : loop
    }
    switch conformer {
    case .libuv, .secureLibuv:
        let left = try UVLoop.run { loop in
            let watchdog = loop.timer(after: .seconds(20)) {
                Issue.record("the test did not finish", sourceLocation: location)
                loop.stop()
            }
            body(
                ContractHarness(loop: try secure(loop)) {
                    watchdog.cancel()
                    loop.stop()
                })
        }
        #expect(left == [], sourceLocation: location)
    case .simulated, .secureSimulated:
        let network = SimNetwork(seed: 1)
        network.settings.latency = .microseconds(10)...(.microseconds(300))
        network.settings.split = .random
        var isFinished = false
        let loop = network.makeLoop("test")
        body(ContractHarness(loop: try secure(loop)) { isFinished = true })
        #expect(network.run(until: { isFinished }), "did not finish", sourceLocation: location)
        #expect(network.runUntilQuiet(), sourceLocation: location)
        #expect(loop.leftovers == [], sourceLocation: location)
    }
}

extension SocketAddress {
    /// A port of the system's choice.
    static let loopback = SocketAddress.ip(.v4(0x7F00_0001), port: 0)
}

func outcome<Value>(
    of promise: LocalPromise<Value>, _ body: @escaping (Result<Value, any Error>) -> Void
) {
    promise.whenSettled(body)
}

typealias Peer = ScriptedPeer
