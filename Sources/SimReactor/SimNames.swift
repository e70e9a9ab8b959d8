import Basics
import Reactor

/// The way from one simulated loop to the names of its process, which its network keeps. The name
/// service answers in virtual time, as `SimNetwork.names` says.
final class SimNames: NameSource {
    private weak var loop: SimLoop?
    private unowned let network: SimNetwork

    init(of loop: SimLoop) {
        self.loop = loop
        network = loop.network
    }

    func hold(_ host: String) { network.nameTable.hold(host) }

    func release(_ host: String) { network.nameTable.release(host) }

    func request(
        _ host: String, maxAge: Duration, publishes: Bool, at now: Instant
    ) -> NameAnswer {
        let (answer, mustStart) = network.nameTable.request(
            host, maxAge: maxAge, for: publishes ? self : nil, at: now)
        if mustStart { network.lookUp(host) }
        return answer
    }

    func suspect(_ host: String, at now: Instant) { network.nameTable.suspect(host, at: now) }

    fileprivate func publish(_ host: String, _ result: Result<[IPAddress], IOFailure>) {
        guard let loop else { return }
        loop.perform { loop.names?.publish(host, result) }
    }
}

extension SimNetwork {
    fileprivate func lookUp(_ host: String) {
        lookUps += 1
        let answer = names[host] ?? .fails(.hostNotFound)
        clock.after(answer.delay) { [weak self] in self?.finishLookUp(host, answer.result) }
    }

    private func finishLookUp(_ host: String, _ result: Result<[IPAddress], IOFailure>) {
        let publication = nameTable.finished(host, result, at: clock.now)
        if let next = publication.next { lookUp(next) }
        for subscriber in publication.subscribers { subscriber.publish(host, publication.result) }
    }
}
