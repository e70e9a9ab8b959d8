package import Promises
package import Reactor

/// All pools of one worker. Requests for the same origin with equal settings share a pool, so its
/// connections survive a reload of the configuration.
package final class ConnectionPools {
    private let loop: any Loop
    private var entries: [Entry] = []
    /// Pools that only a former chain uses, until they are empty.
    private var retired: [Pool] = []

    private struct Entry {
        let settings: PoolSettings
        let pool: Pool
        /// Requested since the last `retireUnused`: the new chain uses it.
        var wasRequested: Bool
    }

    package init(loop: any Loop) {
        self.loop = loop
    }

    /// The pool for an origin. Called when a chain is built, never while serving.
    package func pool(for origin: Origin, settings: PoolSettings) -> Pool {
        let known = entries.firstIndex { $0.pool.origin == origin && $0.settings == settings }
        if let known {
            entries[known].wasRequested = true
            return entries[known].pool
        }
        let pool = Pool(origin: origin, settings: settings, loop: loop)
        entries.append(Entry(settings: settings, pool: pool, wasRequested: true))
        return pool
    }

    /// Called when a new chain is complete: drains the pools that only the old one uses. They still
    /// serve the running requests.
    package func retireUnused() {
        let unused = entries.filter { !$0.wasRequested }.map(\.pool)
        for pool in unused { pool.drain() }
        entries.removeAll { !$0.wasRequested }
        retired = (retired + unused).filter { !$0.isEmpty }
        for index in entries.indices { entries[index].wasRequested = false }
    }

    /// Accepts no more calls. Fulfilled when the running ones have ended and all connections are
    /// closed.
    package func close() -> LocalPromise<Void> {
        loop.local.all((entries.map(\.pool) + retired).map { $0.close() }).asVoid()
    }
}
