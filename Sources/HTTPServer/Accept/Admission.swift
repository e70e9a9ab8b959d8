import Basics
import HTTP
import Reactor

/// Decides which connections a server serves, and ends others when one of its limits is short.
///
/// The server owns it. Confined to the loop's thread.
final class Admission {
    let server: ServerContext
    let table: ConnectionTable
    /// Where the next search for idle connections that hold memory begins; any other slot: at the longest
    /// idle one.
    var nextIdle = -1
    /// From when on exchanges that wait for their clients may be searched again.
    var nextSearch = Instant(nanoseconds: .min)
    var searchTimer: Timer?

    init(to server: ServerContext, _ table: ConnectionTable) {
        self.server = server
        self.table = table
        // Unowned: the budget of an exchange may outlive the server.
        server.budget.reclaim = { [unowned self] reason in reclaimMemory(reason) }
        server.makeRoom = { [unowned self] in makeRoom() }
    }

    deinit {
        server.budget.reclaim = nil
        server.makeRoom = nil
        searchTimer?.cancel()
    }

    /// The server closes.
    func close() { searchTimer.take()?.cancel() }

    // MARK: New connections

    enum Decision {
        /// It counts for a client, if connections are counted per client.
        case admitted(ClientCounts.Client?)
        /// It gets a 503, and counts for the refused connections of a client beyond its own limit.
        case refused(ServerLosses.Refusal, ClientCounts.Client?)
        /// It is closed without a response.
        case closed
    }

    /// Decides about a connection that was accepted. May end idle connections.
    ///
    /// - Parameter hasTLS: whether it begins with a handshake
    func admit(from peer: SocketAddress?, hasTLS: Bool) -> Decision {
        let client = countsClients ? ClientCounts.Client(peer) : nil
        let limit = server.settings.connectionsPerClient ?? .max
        if let client, !server.clients.add(client, as: .served, atMost: limit) {
            // Before room is made: a client beyond its own limit must not evict connections of others.
            return refusal(.connectionsPerClient, client, hasTLS: hasTLS)
        }
        makeRoomForConnection()
        guard table.servedCount < server.settings.connections else {
            client.map { server.clients.remove($0, as: .served) }
            return refusal(.connections, nil, hasTLS: hasTLS)
        }
        // A handshake needs some 50 KiB.
        guard !hasTLS || server.budget.hasRoom() else {
            server.losses.count(.bufferedBytes)
            client.map { server.clients.remove($0, as: .served) }
            return .closed
        }
        return .admitted(client)
    }

    private var countsClients: Bool {
        server.settings.connectionsPerClient != nil || server.settings.requestsPerClient != nil
    }

    /// Counts a connection that is one too many. Beyond `refusedConnections`, it is closed without a 503.
    ///
    /// - Parameters:
    ///   - limit: the one that is reached
    ///   - client: the client whose own limit is reached, if it is that
    private func refusal(
        _ limit: ServerLosses.Refusal, _ client: ClientCounts.Client?, hasTLS: Bool
    ) -> Decision {
        server.losses.count(limit)
        // A 503 is not worth a handshake, which costs more than several requests.
        guard !hasTLS, table.refusedCount < server.settings.refusedConnections,
            client.map({ server.clients.add($0, as: .refused, atMost: Self.refusedPerClient) })
                ?? true
        else { return .closed }
        return .refused(limit, client)
    }

    /// Refused connections of a client beyond its own limit that may be open at once.
    private static let refusedPerClient = 4

    // MARK: Eviction

    /// From nine tenths of the limit on, each new connection evicts the longest idle one, so that
    /// unused connections keep no client out. A recently idle one stays: its request may be on the
    /// way, and a burst of connections must not end it.
    private func makeRoomForConnection() {
        let limit = server.settings.connections
        guard table.servedCount >= max(1, limit - limit / 10) else { return }
        if server.settings.closesSilent { return closeSilent() }
        guard let slot = table.firstIdle,
            table.connections[slot].hasWaited(server.settings.settleTime, now: server.loop.now)
        else { return }
        server.losses.count(.idle)
        table.connections[slot].leaveIdle(.evicted)
    }

    /// Closes the longest silent connection. If most of them have an incomplete request or response,
    /// or none yet, it is one of these, so that they do not close the connections of probes, which pause
    /// between two requests.
    ///
    /// Looks at all connections, of which such a server has few.
    private func closeSilent() {
        let silent = table.connections.compactMap { connection in
            connection.acceptance.isRefused ? nil : connection.silence.map { (connection, $0) }
        }
        let incomplete = silent.filter { !$0.1.isBetweenRequests }
        let candidates = incomplete.count > table.servedCount / 2 ? incomplete : silent
        guard let (connection, _) = candidates.min(by: { $0.1.since < $1.1.since }) else { return }
        server.losses.count(.idle)
        connection.close()
    }
}
