package import Promises

/// The name look-ups that are under way on one loop: equal names asked for at once share one.
package final class LookUps {
    private let core: Core
    private var underWay: [String: LookUp] = [:]

    package init(core: Core) {
        self.core = core
    }

    /// The addresses of `host`; `begin` starts the look-up if none is under way for it.
    package func addresses(
        of host: String, _ begin: (LookUp) -> Void
    ) -> Local<[IPAddress]> {
        if let address = IPAddress(host) { return core.value([address]) }
        if let lookUp = underWay[host] { return lookUp.join(core) }
        let lookUp = LookUp(host, in: self)
        underWay[host] = lookUp
        let promise = lookUp.join(core)
        begin(lookUp)
        return promise
    }

    fileprivate func remove(_ lookUp: LookUp) {
        if underWay[lookUp.host] === lookUp { underWay[lookUp.host] = nil }
    }
}

/// One look-up and all who wait for it.
package final class LookUp {
    package let host: String

    /// Called when the last one who waited gave up.
    package var onGivenUp: () -> Void = {}

    private weak var table: LookUps?
    private var waiting: [Waiter] = []

    fileprivate init(_ host: String, in table: LookUps) {
        self.host = host
        self.table = table
    }

    /// Answers all who wait. Later answers do nothing.
    package func end(_ result: Result<[IPAddress], IOFailure>) {
        table?.remove(self)
        onGivenUp = {}
        let waiters = waiting
        waiting = []
        for waiter in waiters { waiter.resolver.take()?.resolve(result.mapError { $0 }) }
    }

    fileprivate func join(_ core: Core) -> Local<[IPAddress]> {
        let resolver = LocalResolver<[IPAddress]>(on: core)
        let promise = resolver.promise
        let waiter = Waiter()
        resolver.onCancel { [weak self, weak waiter] _ in
            self?.waiting.removeAll { $0 === waiter }
            self?.giveUpIfAlone()
        }
        waiter.resolver = consume resolver
        waiting.append(waiter)
        return promise
    }

    private func giveUpIfAlone() {
        guard waiting.isEmpty else { return }
        table?.remove(self)
        onGivenUp()
        onGivenUp = {}
    }
}

/// One who waits for a look-up: a resolver cannot be in a list by itself.
private final class Waiter {
    var resolver: LocalResolver<[IPAddress]>?
}
