import Basics
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import RESP

/// A client and a scripted store on a simulated network.
final class ClientHarness: Harness {
    let testbed: Testbed
    var loop: SimLoop { testbed.loop }
    let store: ScriptedStore
    let client: RESPClient
    private let states: Recorded

    static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 6379)

    /// `up`, or the failure, at each change, with the time in milliseconds.
    final class Recorded {
        var list: [String] = []
    }

    var changes: [String] { states.list }

    init(
        _ change: (inout RESPSettings) -> Void = { _ in }, starts: Bool = true,
        listens: Bool = true
    ) throws {
        let testbed = Testbed(subject: "client", peers: "store")
        self.testbed = testbed
        store = try ScriptedStore(on: testbed.peerLoop, at: Self.address)
        if !listens { store.kill() }
        var settings = RESPSettings(destination: .host("127.0.0.1", port: 6379))
        change(&settings)
        let states = Recorded()
        self.states = states
        client = RESPClient(settings, loop: testbed.loop) { state in
            switch state {
            case .up: states.list.append("up")
            case .down(let failure): states.list.append("\(failure)")
            }
        }
        if starts {
            client.start()
            advance(5)
        }
    }

    /// Advances the time by milliseconds.
    func advance(_ milliseconds: Int) { testbed.advance(by: .milliseconds(milliseconds)) }

    /// Sends a command; nothing happens before the time advances.
    func send(_ words: String..., until deadline: Instant? = nil) -> SentCommand {
        let command = RESPCommand(words.map { Bytes($0) })
        return SentCommand(
            client.send(until: deadline) { $0.append(contentsOf: command.bytes) }, testbed)
    }

    /// Closes both sides and expects that nothing stays open.
    func expectQuiet(_ location: SourceLocation = #_sourceLocation) {
        client.close()
        advance(100)
        store.kill()
        expectNothingOpen(location)
    }
}

/// A sent command and its outcome.
final class SentCommand {
    let promise: LocalPromise<RESPValue>
    /// The reply or the failure.
    private(set) var outcome: String?
    /// When it was known.
    private(set) var ms: Double?

    init(_ promise: LocalPromise<RESPValue>, _ testbed: Testbed) {
        self.promise = promise
        promise.whenSettled { result in
            self.ms = testbed.ms
            switch result {
            case .success(.simple(let text)): self.outcome = "+\(String(text))"
            case .success(.error(let text)): self.outcome = "-\(String(text))"
            case .success(.bulk(let text)): self.outcome = String(text)
            case .success(let value): self.outcome = "\(value)"
            case .failure(let failure as RESPFailure): self.outcome = "\(failure)"
            case .failure(let error): self.outcome = "\(type(of: error))"
            }
        }
    }
}
