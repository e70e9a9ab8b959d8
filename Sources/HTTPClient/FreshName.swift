import Basics
import Promises
import Reactor

/// The name of one origin, whose addresses are refreshed before they expire as long as the pool is in
/// use. Owned by a `Connector`, confined to its loop.
final class FreshName {
    private let name: HeldName
    private let timeToLive: Duration
    private let patience: Duration
    private let loop: any Loop
    private var refresh: Timer?
    private var isStopped = false

    /// Whether the pool has connections or calls. An unused name is not refreshed; its next
    /// connection looks it up.
    var isInUse: () -> Bool = { false }

    /// Nil while the loop ends.
    init?(_ host: String, _ settings: PoolSettings, loop: any Loop) {
        guard let names = loop.names else { return nil }
        name = names.hold(host)
        timeToLive = settings.dnsTTL
        patience = min(settings.connectTimeout / 4, settings.lookUpPatience)
        self.loop = loop
    }

    deinit { refresh?.cancel() }

    /// The addresses. Rejects with `IOFailure`.
    func addresses() -> LocalPromise<[IPAddress]> {
        armRefresh()
        return name.addresses(maxAge: timeToLive, patience: patience)
    }

    /// None of the addresses accepted a connection.
    func suspect() { name.suspect() }

    /// Refreshes nothing any more.
    func stop() {
        isStopped = true
        isInUse = { false }
        refresh?.cancel()
        refresh = nil
    }

    /// Four times within the time to live, since another loop may have looked the name up earlier:
    /// so a refresh starts when between 1/2 and 3/4 of that time have passed.
    private func armRefresh() {
        guard refresh == nil, !isStopped, timeToLive > .zero else { return }
        let pause = max(timeToLive / 4, FreshName.pauseMin)
        // Not weak, which would make every retain of this object a slow one; `deinit` cancels it.
        refresh = loop.timer(after: pause) { [unowned self] in
            refresh = nil
            guard isInUse() else { return }
            name.refresh(maxAge: timeToLive / 2)
            armRefresh()
        }
    }

    /// 250 ms: names with a shorter time to live are looked up when they are needed.
    private static let pauseMin = Duration.milliseconds(250)
}
