import Basics
package import Promises

/// The name look-ups of one loop: sends requests to the process's table and owns the promises that
/// wait for results, which arrive as messages. Owned by the loop and confined to it.
package final class NameResolver: MessageReceiver {
    private unowned let loop: any Loop
    private let service: NameService
    private let subscriber: NameSubscriber
    private var waiting: [String: [NameWaiter]] = [:]
    private var isClosed = false

    /// - Parameter inbox: delivers to the resolver itself
    package init(on loop: any Loop, service: NameService, inbox: any MessageInbox<NameResult>) {
        self.loop = loop
        self.service = service
        subscriber = NameSubscriber(inbox)
    }

    /// A name for repeated look-ups: the process caches its addresses while the result exists.
    package func cachedName(_ host: String) -> CachedName {
        service.retain(host)
        return CachedName(host, in: self)
    }

    /// The result of a look-up has arrived.
    package func receive(_ message: NameResult) { publish(message.host, message.result) }

    private func publish(_ host: String, _ result: Result<[IPAddress], IOFailure>) {
        for waiter in waiting.removeValue(forKey: host) ?? [] { waiter.resolve(result) }
    }

    /// The loop closes: no result will arrive.
    package func close() {
        isClosed = true
        let hosts = waiting.keys.sorted()
        for host in hosts { publish(host, .failure(.cancelled)) }
    }

    // MARK: For `CachedName`

    fileprivate func addresses(
        of name: CachedName, maxAge: Duration, waitMax: Duration?
    ) -> LocalPromise<[IPAddress]> {
        guard !isClosed else { return name.local.error(IOFailure.cancelled) }
        switch service.request(name.host, maxAge: maxAge, for: subscriber, at: loop.now) {
        case .addresses(let addresses): return name.local.value(addresses)
        case .failed(let failure): return name.local.error(failure)
        case .pending(let cached, let since):
            guard !cached.isEmpty, let waitMax else { return addWaiter(name).promise }
            let left = waitMax - (loop.now - since)
            guard left > .zero else { return name.local.value(cached) }
            return wait(for: name, andUse: cached, after: left)
        }
    }

    fileprivate func known(_ name: CachedName) -> [IPAddress] { service.addresses(of: name.host) }

    fileprivate func isUnresolved(_ name: CachedName) -> Bool { service.isUnresolved(name.host) }

    fileprivate func refresh(_ name: CachedName, maxAge: Duration) {
        guard !isClosed else { return }
        _ = service.request(name.host, maxAge: maxAge, for: nil, at: loop.now)
    }

    fileprivate func markUnreachable(_ name: CachedName) {
        guard !isClosed else { return }
        service.markUnreachable(name.host, at: loop.now)
    }

    fileprivate func release(_ host: String) { service.release(host) }

    fileprivate var local: LocalContext { loop.local }

    // MARK: Waiting

    /// Waits for a limited time, then uses the cached addresses.
    private func wait(
        for name: CachedName, andUse cached: [IPAddress], after waitMax: Duration
    ) -> LocalPromise<[IPAddress]> {
        let (waiter, promise) = addWaiter(name)
        waiter.timer = loop.timer(after: waitMax) { [weak self, weak waiter] in
            guard let waiter else { return }
            self?.removeWaiter(waiter)
            waiter.resolve(.success(cached))
        }
        return promise
    }

    private func addWaiter(_ name: CachedName) -> (
        waiter: NameWaiter, promise: LocalPromise<[IPAddress]>
    ) {
        let resolver = LocalResolver<[IPAddress]>(on: loop.local)
        let promise = resolver.promise
        let waiter = NameWaiter(name)
        resolver.onCancel { [weak self, weak waiter] _ in
            guard let waiter else { return }
            waiter.timer?.cancel()
            self?.removeWaiter(waiter)
        }
        waiter.resolver = consume resolver
        waiting[name.host, default: []].append(waiter)
        return (waiter, promise)
    }

    private func removeWaiter(_ waiter: NameWaiter) {
        let host = waiter.name.host
        waiting[host]?.removeAll { $0 === waiter }
        if waiting[host]?.isEmpty == true { waiting[host] = nil }
    }
}

/// A host name in use by a part of a loop. While it exists, the process caches its addresses.
package final class CachedName {
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
    ///   - waitMax: how long to wait for such a look-up before the cached addresses are used after
    ///     all; nil for no limit
    package func addresses(maxAge: Duration, waitMax: Duration?) -> LocalPromise<[IPAddress]> {
        resolver.addresses(of: self, maxAge: maxAge, waitMax: waitMax)
    }

    /// Looks the name up in the background if its addresses are at least this old.
    package func refresh(maxAge: Duration) { resolver.refresh(self, maxAge: maxAge) }

    /// The cached addresses; looks nothing up.
    package var known: [IPAddress] { resolver.known(self) }

    /// Whether the last look-up failed, and no address is cached.
    package var isUnresolved: Bool { resolver.isUnresolved(self) }

    /// Reports that no address accepted a connection: the addresses of the name may have changed.
    package func markUnreachable() { resolver.markUnreachable(self) }
}

/// One promise that waits for a look-up; it keeps the name in the cache.
private final class NameWaiter {
    let name: CachedName
    var resolver: LocalResolver<[IPAddress]>?
    /// Fires when the cached addresses are to be used instead.
    var timer: Timer?

    init(_ name: CachedName) { self.name = name }

    func resolve(_ result: Result<[IPAddress], IOFailure>) {
        timer?.cancel()
        resolver.take()?.resolve(result.mapError { $0 })
    }
}

extension Loop {
    /// The addresses of a host name that is looked up once, in the system's order of preference; an
    /// address in text form resolves to itself. Rejects with `IOFailure`. Concurrent requests for
    /// the same name share one look-up.
    package func resolve(_ host: String) -> LocalPromise<[IPAddress]> {
        if let address = IPAddress(host) { return local.value([address]) }
        guard let names else { return local.error(IOFailure.cancelled) }
        return names.cachedName(host).addresses(maxAge: .zero, waitMax: nil)
    }
}
