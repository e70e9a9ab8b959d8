import Basics
import Promises
import Reactor

/// The addresses of one origin's host name, refreshed before they expire while the pool is in use.
/// Owned by a `Connector`, confined to its loop.
final class AddressRefresher {
    private let name: CachedName
    private let timeToLive: Duration
    private let waitMax: Duration
    private let loop: any Loop
    private var refresh: Timer?
    private var isStopped = false
    /// Whether a connection has asked for the addresses since the last check.
    private var wasUsed = false

    /// Whether the pool has connections or calls. A name that is not in use, and was not since the last
    /// check, is not refreshed; its next connection looks it up.
    var isInUse: () -> Bool = { false }

    /// Receives the known addresses at each check; none if the name does not exist.
    var onCheck: ([IPAddress]) -> Void = { _ in }

    /// Nil while the loop closes.
    init?(_ host: String, _ settings: PoolSettings, loop: any Loop) {
        guard let names = loop.names else { return nil }
        name = names.cachedName(host)
        timeToLive = settings.dnsTTL
        waitMax = min(settings.connectTimeout / 4, settings.lookUpWaitMax)
        self.loop = loop
    }

    deinit { refresh?.cancel() }

    /// The addresses. Rejects with `IOFailure`.
    func addresses() -> LocalPromise<[IPAddress]> {
        wasUsed = true
        armRefresh()
        return name.addresses(maxAge: timeToLive, waitMax: waitMax)
    }

    /// Whether the last look-up failed, and no address is cached.
    var isUnresolved: Bool { name.isUnresolved }

    /// None of the addresses accepted a connection.
    func markUnreachable() { name.markUnreachable() }

    /// Stops refreshing.
    func stop() {
        isStopped = true
        isInUse = { false }
        onCheck = { _ in }
        refresh?.cancel()
        refresh = nil
    }

    /// Checks four times within the time to live, since another loop may have looked the name up
    /// earlier: a refresh therefore starts after 1/2 to 3/4 of that time.
    private func armRefresh() {
        guard refresh == nil, !isStopped, timeToLive > .zero else { return }
        let interval = max(timeToLive / 4, AddressRefresher.intervalMin)
        // Not weak, which would make every retain of this object slower; `deinit` cancels the
        // timer.
        refresh = loop.timer(after: interval) { [unowned self] in
            refresh = nil
            guard isInUse() || wasUsed else { return }
            wasUsed = false
            onCheck(name.known)
            name.refresh(maxAge: timeToLive / 2)
            armRefresh()
        }
    }

    /// 250 ms: names with a shorter time to live are looked up when they are needed.
    private static let intervalMin = Duration.milliseconds(250)
}
