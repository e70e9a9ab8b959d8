import Basics
package import Promises

/// The name look-ups of one loop: asks the process's table, and keeps the promises that wait for the
/// result of a look-up, which arrives as a message. Owned by the loop and confined to it.
package final class NameResolver: MessageReceiver {
    private unowned let loop: any Loop
    private let service: NameService
    private let subscriber: NameSubscriber
    private var waiting: [String: [NameWaiter]] = [:]
    private var isClosed = false

    /// - Parameter inbox: that of the resolver itself
    package init(on loop: any Loop, service: NameService, inbox: any MessageInbox<NameResult>) {
        self.loop = loop
        self.service = service
        subscriber = NameSubscriber(inbox)
    }

    /// A name to be looked up repeatedly: its addresses are kept as long as the result lives.
    package func hold(_ host: String) -> HeldName {
        service.hold(host)
        return HeldName(host, in: self)
    }

    /// The result of a look-up has arrived.
    package func receive(_ message: NameResult) { publish(message.host, message.result) }

    private func publish(_ host: String, _ result: Result<[IPAddress], IOFailure>) {
        for waiter in waiting.removeValue(forKey: host) ?? [] { waiter.end(result) }
    }

    /// The loop ends: no result will arrive.
    package func close() {
        isClosed = true
        let hosts = waiting.keys.sorted()
        for host in hosts { publish(host, .failure(.cancelled)) }
    }

    // MARK: For `HeldName`

    fileprivate func addresses(
        of name: HeldName, maxAge: Duration, patience: Duration?
    ) -> LocalPromise<[IPAddress]> {
        guard !isClosed else { return name.local.error(IOFailure.cancelled) }
        switch service.request(name.host, maxAge: maxAge, for: subscriber, at: loop.now) {
        case .addresses(let addresses): return name.local.value(addresses)
        case .failed(let failure): return name.local.error(failure)
        case .pending(let known, let since):
            guard !known.isEmpty, let patience else { return join(name).promise }
            let left = patience - (loop.now - since)
            guard left > .zero else { return name.local.value(known) }
            return wait(for: name, andUse: known, after: left)
        }
    }

    fileprivate func refresh(_ name: HeldName, maxAge: Duration) {
        guard !isClosed else { return }
        _ = service.request(name.host, maxAge: maxAge, for: nil, at: loop.now)
    }

    fileprivate func suspect(_ name: HeldName) {
        guard !isClosed else { return }
        service.suspect(name.host, at: loop.now)
    }

    fileprivate func release(_ host: String) { service.release(host) }

    fileprivate var local: LocalContext { loop.local }

    // MARK: Waiting

    /// Waits for a while, then takes the addresses that are known.
    private func wait(
        for name: HeldName, andUse known: [IPAddress], after patience: Duration
    ) -> LocalPromise<[IPAddress]> {
        let (waiter, promise) = join(name)
        waiter.timer = loop.timer(after: patience) { [weak self, weak waiter] in
            guard let waiter else { return }
            self?.leave(waiter)
            waiter.end(.success(known))
        }
        return promise
    }

    private func join(_ name: HeldName) -> (waiter: NameWaiter, promise: LocalPromise<[IPAddress]>)
    {
        let resolver = LocalResolver<[IPAddress]>(on: loop.local)
        let promise = resolver.promise
        let waiter = NameWaiter(name)
        resolver.onCancel { [weak self, weak waiter] _ in
            guard let waiter else { return }
            waiter.timer?.cancel()
            self?.leave(waiter)
        }
        waiter.resolver = consume resolver
        waiting[name.host, default: []].append(waiter)
        return (waiter, promise)
    }

    private func leave(_ waiter: NameWaiter) {
        let host = waiter.name.host
        waiting[host]?.removeAll { $0 === waiter }
        if waiting[host]?.isEmpty == true { waiting[host] = nil }
    }
}

/// A name that a part of a loop uses. While it lives, the process keeps what it knows of the name.
package final class HeldName {
    package let host: String
    fileprivate let local: LocalContext
    private let resolver: NameResolver

    fileprivate init(_ host: String, in resolver: NameResolver) {
        self.host = host
        self.resolver = resolver
        local = resolver.local
    }

    deinit { resolver.release(host) }

    /// The addresses, in the system's order of preference. Rejects with `IOFailure`.
    ///
    /// - Parameters:
    ///   - maxAge: addresses this old or older are looked up again
    ///   - patience: how long such a look-up may take before the addresses that are known are used
    ///     after all; nil for no limit
    package func addresses(maxAge: Duration, patience: Duration?) -> LocalPromise<[IPAddress]> {
        resolver.addresses(of: self, maxAge: maxAge, patience: patience)
    }

    /// Looks the name up in the background if its addresses are at least this old.
    package func refresh(maxAge: Duration) { resolver.refresh(self, maxAge: maxAge) }

    /// None of the addresses accepted a connection: the name may mean others by now.
    package func suspect() { resolver.suspect(self) }
}

/// One promise that waits for a look-up; keeps its name held meanwhile.
private final class NameWaiter {
    let name: HeldName
    var resolver: LocalResolver<[IPAddress]>?
    /// Due when the known addresses are used instead.
    var timer: Timer?

    init(_ name: HeldName) { self.name = name }

    func end(_ result: Result<[IPAddress], IOFailure>) {
        timer?.cancel()
        resolver.take()?.resolve(result.mapError { $0 })
    }
}

extension Loop {
    /// The addresses of a host name that is looked up once, in the system's order of preference; an
    /// address in text form is its own answer. Rejects with `IOFailure`. Requests for equal names at
    /// the same time share one look-up.
    package func resolve(_ host: String) -> LocalPromise<[IPAddress]> {
        if let address = IPAddress(host) { return local.value([address]) }
        guard let names else { return local.error(IOFailure.cancelled) }
        return names.hold(host).addresses(maxAge: .zero, patience: nil)
    }
}
