import Basics
import Promises
package import Reactor
package import SimReactor
package import Testing

/// A simulated network with two event loops: one for the component under test, one for the clients and
/// backends around it. The test owns it and drives it on its own thread; all time is virtual.
package final class Testbed {
    package let network: SimNetwork
    /// The loop of the component under test.
    package let loop: SimLoop
    /// The loop of its peers.
    package let peerLoop: SimLoop
    private let began: Instant

    /// - Parameters:
    ///   - subject: name of the loop under test, as `leftovers` shows it
    ///   - latency: of each packet; nil keeps the network's own
    package init(
        seed: UInt64 = 1, subject: String, peers: String, latency: ClosedRange<Duration>? = nil
    ) {
        network = SimNetwork(seed: seed)
        if let latency { network.settings.latency = latency }
        loop = network.makeLoop(subject)
        peerLoop = network.makeLoop(peers)
        began = network.clock.now
    }

    // MARK: Time

    /// Virtual milliseconds since the testbed was made.
    package var ms: Double { (network.clock.now - began).inMilliseconds }

    /// Runs all events within a duration and advances the time by it.
    package func advance(by duration: Duration) { network.advance(by: duration) }

    /// Runs an action as an event of a loop, and all other events that are due now.
    package func perform(on loop: SimLoop, _ action: @escaping () -> Void) {
        loop.timer(after: .zero, action)
        advance(by: .zero)
    }

    // MARK: Connections

    package struct NotConnected: Error {}

    /// A new connection from the peers' loop; advances the time until it exists.
    package func connect(to address: SocketAddress) throws -> any ByteStream {
        var result: Result<any ByteStream, any Error>?
        peerLoop.timer(after: .zero) { [self] in
            peerLoop.connect(to: address).whenSettled { result = $0 }
        }
        network.run(until: { result != nil })
        guard case .success(let stream) = result else { throw NotConnected() }
        return stream
    }
}

/// A component under test in a testbed: the functions that all harnesses share.
package protocol Harness: AnyObject {
    var testbed: Testbed { get }
}

extension Harness {
    package var network: SimNetwork { testbed.network }

    /// Virtual milliseconds since the harness was made.
    package var ms: Double { testbed.ms }

    /// Runs an action on the peers' loop after some virtual milliseconds.
    package func after(_ milliseconds: Int, _ action: @escaping () -> Void) {
        testbed.peerLoop.timer(after: .milliseconds(milliseconds), action)
    }

    /// From now on the latency of each packet is random, up to this.
    package func randomizeLatency(upTo milliseconds: Int) {
        network.settings.latency = .zero ... .milliseconds(milliseconds)
    }

    /// Runs all events, and expects that no handle and no timer stays open.
    package func expectNothingOpen(_ location: SourceLocation) {
        #expect(network.runUntilQuiet(), sourceLocation: location)
        #expect(network.leftovers == [], sourceLocation: location)
    }

    /// A random number of the testbed's seed.
    package func random(below bound: Int) -> Int { network.entropy.below(bound) }
}
