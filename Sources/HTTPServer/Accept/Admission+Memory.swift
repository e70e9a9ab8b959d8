import Basics
import HTTP
import Reactor

/// Memory is short: which connections end.
extension Admission {
    /// Connections that are checked in one reclaim, which bounds the work of one write.
    private static let checksPerReclaim = 32

    func reclaimMemory(_ reason: ByteBudget.ReclaimReason) {
        closeUnread(reason)
        if case .bytes(let count) = reason { closeIdle(for: count) }
    }

    /// Bytes will be refused: closes idle connections that hold memory, as TLS and HTTP/2 do, the longest idle
    /// one first, until a quarter of the budget is free. A recently idle one stays, as in
    /// `makeRoomForConnection`.
    private func closeIdle(for count: Int) {
        let now = server.loop.now
        var checksLeft = Self.checksPerReclaim
        var next = table.isIdle(nextIdle) ? nextIdle : table.firstIdle
        while checksLeft > 0, server.budget.isLow(with: count), let slot = next {
            checksLeft -= 1
            let connection = table.connections[slot]
            next = table.nextIdle(after: slot)
            guard connection.holdsMemory,
                connection.hasWaited(server.settings.settleTime, now: now)
            else { continue }
            server.losses.count(.idle)
            connection.leaveIdle(.evicted)
            // The last entry of the table takes the slot of one that is closed.
            if next == table.count { next = slot }
        }
        nextIdle = next ?? -1
    }

    /// Closes connections whose clients do not read their responses, the longest waiting one first, until a
    /// quarter of the budget is free.
    ///
    /// Clients that read are spared, and those that have waited only for a moment; the time is
    /// shorter if a request would otherwise be rejected.
    private func closeUnread(_ reason: ByteBudget.ReclaimReason) {
        let (count, grace) =
            switch reason {
            case .low: (0, server.settings.unreadGrace)
            case .bytes(let count): (count, server.settings.unreadGraceMin)
            }
        makeRoom(forBytes: count)
        let now = server.loop.now
        var checksLeft = Self.checksPerReclaim
        while checksLeft > 0, server.budget.isLow(with: count), let slot = table.firstUnread {
            checksLeft -= 1
            let connection = table.connections[slot]
            // All others have waited for less.
            guard connection.hasWaited(grace, now: now) else { return }
            if connection.readsOutput(now: now) {
                table.moveToEndOfUnread(slot)
            } else {
                server.losses.count(.unread)
                connection.closeUnread()
            }
        }
    }
}
