import Basics
import HTTP
import Reactor

/// What the server does when less than a quarter of a limit is left: it ends exchanges that hold a part of
/// it and wait for their clients.
///
/// One search finds them for all limits: the requests in flight of all clients and of each client, streams,
/// buffered bytes, and the permits of endpoints and backends. It takes a time in proportion to the open
/// connections, so there is at most one in 25 ms, and none unless something is short.
extension Admission {
    /// A limit is short.
    ///
    /// - Parameter bytes: that will be refused unless memory is freed; 0 if none will
    func makeRoom(forBytes bytes: Int = 0) {
        let now = server.loop.now
        guard now >= nextSearch else { return }
        nextSearch = now + Self.searchInterval
        endWaitingExchanges(forBytes: bytes, now)
    }

    private static let searchInterval = Duration.milliseconds(25)
    /// Until exchanges that have waited for less than their grace time are looked at again.
    private static let retryInterval = Duration.milliseconds(100)
    /// Exchanges of one client that may wait at a time before their grace time becomes shorter.
    ///
    /// 8: more than a client has that is only slow.
    private static let waitsOfClientMax = 8

    private struct Waiting {
        let runner: ExchangeRunner
        let wait: ClientWait
        /// At the beginning of the search.
        let shortage: Shortage
    }

    /// Ends those that have waited longest, until nothing is short.
    private func endWaitingExchanges(forBytes bytes: Int, _ now: Instant) {
        var waiting: [Waiting] = []
        var counts: [ObjectIdentifier: Int] = [:]
        for connection in table.connections {
            connection.forEachRunner { runner in
                guard shortage(of: runner, nil, bytes) != .none,
                    let wait = runner.clientWait(now)
                else { return }
                let shortage = shortage(of: runner, wait, bytes)
                guard shortage != .none else { return }
                waiting.append(Waiting(runner: runner, wait: wait, shortage: shortage))
                counts[runner.client, default: 0] += 1
            }
        }
        waiting.sort { $0.wait.since < $1.wait.since }
        var mustRetry = false
        for entry in waiting {
            guard shortage(of: entry.runner, entry.wait, bytes) != .none else { continue }
            let isOneOfMany =
                counts[entry.runner.client, default: 0] > Self.waitsOfClientMax
                || entry.wait.holdsBytes && server.budget.isLow(with: bytes)
            guard now - entry.wait.since >= grace(entry.shortage, isOneOfMany: isOneOfMany) else {
                mustRetry = true
                continue
            }
            server.losses.count(.waiting)
            entry.runner.endWaiting()
        }
        if mustRetry { searchAgain() }
    }

    /// The worst shortage of what an exchange holds.
    ///
    /// - Parameter wait: nil if it is not known, and it may hold bytes
    private func shortage(
        of runner: ExchangeRunner, _ wait: ClientWait?, _ bytes: Int
    ) -> Shortage {
        let ofPermits = runner.shortage
        guard wait?.holdsBytes ?? true, server.budget.isLow(with: bytes) else { return ofPermits }
        return max(ofPermits, server.budget.fits(bytes) ? .low : .full)
    }

    /// How long an exchange may wait for its client. A client with few of them may just be slow.
    private func grace(_ shortage: Shortage, isOneOfMany: Bool) -> Duration {
        guard isOneOfMany else { return server.settings.limits.bodyGrace }
        return shortage == .full ? server.settings.unreadGraceMin : server.settings.unreadGrace
    }

    private func searchAgain() {
        guard searchTimer == nil else { return }
        searchTimer = server.loop.timer(after: Self.retryInterval) { [weak self] in
            guard let self else { return }
            searchTimer = nil
            makeRoom()
        }
    }
}
