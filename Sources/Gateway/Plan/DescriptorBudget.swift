import HTTP

/// How a process divides its file descriptors among clients, backends and the rest.
///
/// Descriptors below `acceptCeiling` are for clients and for calls to backends, those up to
/// `connectCeiling` for calls only, and the last `reserve` for the admin address, name lookups and
/// files. See `LoopDescriptors` for how descriptor numbers enforce this.
package struct DescriptorBudget: Sendable, Equatable {
    /// How many descriptors the process may have open.
    package let limit: Int
    /// How many are open before its workers start, including listeners.
    let open: Int
    let workers: Int

    /// Descriptors that a worker's event loop opens for itself: epoll, eventfd, a pipe for signals,
    /// one that libuv may hold, and the set of paused streams.
    private static let perLoop = 6

    /// More than any system allows, and small enough that no sum overflows.
    private static let numberMax = 1 << 40

    package init(limit: Int, open: Int, workers: Int) {
        self.limit = min(max(0, limit), Self.numberMax)
        self.open = min(max(0, open), Self.numberMax)
        self.workers = min(max(1, workers), Self.numberMax)
    }

    /// Descriptors reserved for everything but clients and calls.
    ///
    /// An eighth, from 8 to 64: a small limit leaves descriptors for clients, and a large one
    /// wastes few.
    var reserve: Int { min(64, max(8, limit / 8)) }

    /// Connections to the admin address at once: half of the reserve.
    package var adminConnections: Int { reserve / 2 }

    /// Connections to the admin address beyond these, open only for their 503.
    package var adminRefusedConnections: Int { reserve / 4 }

    /// However low the limit is, every worker gets the descriptors of its loop and one client.
    package var acceptCeiling: Int {
        max(limit - 2 * reserve, open + workers * (Self.perLoop + 1))
    }

    package var connectCeiling: Int { max(limit - reserve, acceptCeiling + 1) }

    /// Descriptors for the clients and the calls of one worker.
    var perWorker: Int { max(0, acceptCeiling - open) / workers - Self.perLoop }
}

extension Plan {
    /// A copy that accepts only as many connections as its calls leave descriptors for.
    package func fitted(to budget: DescriptorBudget) -> Plan {
        var plan = self
        plan.server.limitConnections(to: connectionsMax(under: budget))
        return plan
    }

    /// The number of connections of the whole process, if the budget allows fewer than configured.
    package func reducedConnections(under budget: DescriptorBudget) -> Int? {
        let connections = connectionsMax(under: budget)
        return connections < server.connections ? connections * process.workers : nil
    }

    private func connectionsMax(under budget: DescriptorBudget) -> Int {
        DescriptorDemand(self).connectionsMax(
            configured: server.connections, available: budget.perWorker)
    }
}
