import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// The slots of connections, their order, and the end of all.
@Suite struct ConnectionTableTests {
    private final class Connection: ServedConnection {
        let name: String
        var slot: Int
        let acceptance: Acceptance
        var table: ConnectionTable { acceptance.table }
        var isIdle = true
        private(set) var calls: [String] = []

        init(
            _ name: String, in server: Server, client: ClientCounts.Client? = nil,
            isRefused: Bool = false
        ) {
            self.name = name
            acceptance = Acceptance(
                server: server.context, table: server.table, client: client, isRefused: isRefused)
            slot = server.table.count
            table.store(self)
        }

        var exchanges: [Exchange] { [] }

        func announceDrain() { calls.append("announce") }

        func leaveIdle(_ reason: LeaveReason) {
            calls.append("leave")
            if isIdle { end() }
        }

        func close() {
            calls.append("close")
            end()
        }

        func end() {
            table.removeActivity(at: slot)
            table.remove(self)
        }

        func closeUnread() {}
        func hasWaited(_ duration: Duration, now: Instant) -> Bool { false }
        var holdsMemory: Bool { false }
        func readsOutput(now: Instant) -> Bool { true }
    }

    private let testbed = Testbed(subject: "server", peers: "client")
    private let clients = ClientCounts()

    /// A server, whose table the test uses.
    private let server: Server

    init() {
        server = Server(loop: testbed.loop, clientConnections: clients) { _, exchange in
            exchange.local.error(PromiseError.abandoned)
        }
    }

    private var table: ConnectionTable { server.table }

    private func names() -> [String] {
        table.connections.compactMap { ($0 as? Connection)?.name }
    }

    private func idleOrder() -> [String] {
        var order: [String] = []
        var next = table.firstIdle
        while let slot = next {
            order.append(names()[slot])
            next = table.nextIdle(after: slot)
        }
        return order
    }

    @Test func lastConnectionTakesTheSlotOfARemovedOne() {
        let connections = ["a", "b", "c"].map { Connection($0, in: server) }
        for connection in connections.reversed() {
            table.updateActivity(at: connection.slot, from: .busy, to: .idle)
        }
        #expect(idleOrder() == ["c", "b", "a"])
        connections[0].end()
        #expect(names() == ["c", "b"] && connections[2].slot == 0)
        #expect(idleOrder() == ["c", "b"], "it keeps its position")
        table.silentHandshakes.append(1)
        connections[2].end()
        #expect(names() == ["b"] && table.silentHandshakes.first == 0)
        connections[1].end()
        #expect(table.count == 0 && table.firstIdle == nil)
    }

    @Test func connectionTakesThePlaceOfAnother() {
        let connections = ["a", "b"].map { Connection($0, in: server) }
        let next = Connection("c", in: server)
        next.end()
        next.slot = connections[0].slot
        table.store(next)
        #expect(names() == ["c", "b"] && table.count == 2)
    }

    @Test func countsRefusedConnectionsApart() throws {
        let client = try #require(ClientCounts.Client(SocketAddress("192.0.2.1:80")))
        #expect(clients.add(client, as: .served, atMost: 1))
        #expect(clients.add(client, as: .refused, atMost: 1))
        let served = Connection("served", in: server, client: client)
        let refused = Connection("refused", in: server, client: client, isRefused: true)
        #expect(table.count == 2 && table.servedCount == 1 && table.refusedCount == 1)
        served.end()
        #expect(table.servedCount == 0 && clients.add(client, as: .served, atMost: 1))
        #expect(!clients.add(client, as: .refused, atMost: 1))
        refused.end()
        #expect(table.refusedCount == 0 && clients.add(client, as: .refused, atMost: 1))
    }

    @Test func unreadConnectionThatReadsIsLookedAtLast() {
        for name in ["a", "b"] {
            table.updateActivity(at: Connection(name, in: server).slot, from: .busy, to: .unread)
        }
        #expect(table.firstUnread == 0)
        table.moveToEndOfUnread(0)
        #expect(table.firstUnread == 1)
        table.updateActivity(at: 1, from: .unread, to: .busy)
        #expect(table.firstUnread == 0)
        table.close()
    }

    @Test func drainIsFulfilledWithTheLastConnection() {
        let connections = ["idle", "busy"].map { Connection($0, in: server) }
        connections[1].isIdle = false
        var ends = 0
        testbed.perform(on: testbed.loop) {
            for _ in 0..<2 { table.drain().whenSettled { _ in ends += 1 } }
        }
        #expect(table.isDraining && !table.isClosed && ends == 0 && names() == ["busy"])
        #expect(connections.map(\.calls) == [["leave"], ["leave"]])
        testbed.perform(on: testbed.loop) { connections[1].end() }
        #expect(ends == 2)
    }

    @Test func emptyTableIsDrainedAtOnce() {
        var isDrained = false
        testbed.perform(on: testbed.loop) { table.drain().whenSettled { _ in isDrained = true } }
        #expect(isDrained)
    }

    @Test func closesAndAnnouncesToAll() {
        let connections = ["a", "b"].map { Connection($0, in: server) }
        table.announceDrain()
        #expect(table.isDraining && table.count == 2)
        table.close()
        #expect(table.isClosed && table.count == 0)
        #expect(connections.map(\.calls) == [["announce", "close"], ["announce", "close"]])
    }
}
