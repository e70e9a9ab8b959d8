import Basics
package import Reactor

/// The name look-ups of a simulated process, which end in virtual time with the outcome in
/// `SimNetwork.names`.
///
/// Unchecked: a simulation runs on one thread.
final class SimLookUps: NameLookUps, @unchecked Sendable {
    private weak var network: SimNetwork?
    private let clock: SimClock

    init(on network: SimNetwork) {
        self.network = network
        clock = network.clock
    }

    var now: Instant { clock.now }

    func startLookUp(
        of host: String, _ onEnd: @escaping @Sendable (Result<[IPAddress], IOFailure>) -> Void
    ) throws(IOFailure) {
        guard let network else { throw .cancelled }
        network.lookUps += 1
        let outcome = network.names[host] ?? .fails(.hostNotFound)
        clock.after(outcome.delay) { [weak network] in
            if network != nil { onEnd(outcome.result) }
        }
    }
}

extension SimNetwork {
    /// The host names of a simulated process, which its loops share.
    package func makeNameService() -> NameService {
        NameService(lookUps: SimLookUps(on: self))
    }
}
