import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// A pool and its backend on a simulated network.
protocol PoolTestHarness: Harness {
    associatedtype Backend: ScriptedHost
    var testbed: Testbed { get }
    var backend: Backend { get }
    var pool: Pool { get }
}

/// A backend that a test can close.
protocol ScriptedHost {
    func close()
}

extension ScriptedBackend: ScriptedHost {}
extension ScriptedH2Backend: ScriptedHost {}

extension PoolTestHarness {
    /// Advances the time until the outcome of a request is known.
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
