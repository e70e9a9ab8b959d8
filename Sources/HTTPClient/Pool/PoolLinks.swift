import Promises
import Reactor

/// The objects behind a pool's `ConnectionID`s, found by their slots.
struct PoolLinks {
    enum Link {
        case none
        case connection(any PooledConnection, ConnectionTerm)
        case connecting(ConnectAttempt)
    }

    /// A connection that is being made.
    struct ConnectAttempt {
        let stream: LocalPromise<any ByteStream>
        /// The call whose failed connection this one replaces; nil for a connection for the longest
        /// waiting call.
        let resending: PendingCall?
        fileprivate let number: UInt64
    }

    private var links: [Link] = []
    private var connectionCount = 0
    /// How many were started.
    private var attemptCount: UInt64 = 0

    /// The connection, if it exists.
    func connection(_ id: ConnectionID) -> (any PooledConnection)? {
        guard case .connection(let connection, _) = links[id.slot] else { return nil }
        return connection
    }

    /// All existing connections.
    var connections: [any PooledConnection] {
        links.compactMap { link in
            if case .connection(let connection, _) = link { connection } else { nil }
        }
    }

    /// The terms of all existing connections.
    var terms: [(id: ConnectionID, term: ConnectionTerm)] {
        links.indices.compactMap { slot in
            guard case .connection(_, let term) = links[slot] else { return nil }
            return (ConnectionID(slot: slot), term)
        }
    }

    /// A connection was made.
    mutating func setConnection(
        _ connection: any PooledConnection, _ term: ConnectionTerm, at id: ConnectionID
    ) {
        assert(isFree(id), "a connection takes the place of another")
        links[id.slot] = .connection(connection, term)
        connectionCount += 1
    }

    /// Stores an attempt to make a connection. The returned number identifies it: the slot may be
    /// reused before the attempt ends, the number is not.
    mutating func beginConnect(
        _ stream: LocalPromise<any ByteStream>, resending call: PendingCall?, at id: ConnectionID
    ) -> UInt64 {
        while links.count <= id.slot { links.append(.none) }
        assert(isFree(id), "a connection attempt takes the place of a connection")
        attemptCount += 1
        links[id.slot] = .connecting(
            ConnectAttempt(stream: stream, resending: call, number: attemptCount))
        return attemptCount
    }

    /// Removes and returns the attempt with that number; nil if it was cancelled meanwhile.
    mutating func endConnect(_ number: UInt64, at id: ConnectionID) -> ConnectAttempt? {
        guard case .connecting(let attempt) = links[id.slot], attempt.number == number else {
            return nil
        }
        links[id.slot] = .none
        return attempt
    }

    /// Removes and returns the link.
    mutating func takeLink(_ id: ConnectionID) -> Link {
        let link = links[id.slot]
        links[id.slot] = .none
        if case .connection = link { connectionCount -= 1 }
        assert(connectionCount >= 0, "more connections ended than were made")
        return link
    }

    private func isFree(_ id: ConnectionID) -> Bool {
        if case .none = links[id.slot] { true } else { false }
    }

    /// Connections; attempts do not count.
    var count: Int { connectionCount }

    /// Whether there is no connection; attempts do not count.
    var isEmpty: Bool { connectionCount == 0 }
}
