import Basics
import HTTP
import Reactor

/// A connection without TLS at a listener that also serves HTTP/2, until its first bytes show the
/// protocol: those of HTTP/2 are its preface (RFC 9113 3.4). It has a place in the server's table,
/// where a connection of that protocol replaces it.
///
/// The server's table and the stream hold it. Confined to the loop's thread.
final class PrefaceConnection: ServedConnection, ByteStreamDelegate {
    private let server: Server
    private let stream: any ByteStream
    var slot: Int
    let countedClient: ClientCounts.Client?
    private let settings: ListenerSettings
    /// A beginning of the preface.
    private var received: [UInt8] = []
    private var timer: Timer?
    private let accepted: Instant

    private static let preface = Bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

    init(
        _ stream: any ByteStream, of server: Server, slot: Int,
        countedClient: ClientCounts.Client?, _ settings: ListenerSettings
    ) {
        self.stream = stream
        self.server = server
        self.slot = slot
        self.countedClient = countedClient
        self.settings = settings
        accepted = server.loop.now
    }

    func startReading() {
        timer = server.loop.timer(after: server.settings.limits.headerTimeout) { [weak self] in
            self?.end()
        }
        server.updateActivity(at: slot, from: .busy, to: .idle)
        stream.startReading(for: self)
    }

    // MARK: Events of the stream

    func streamReceived(_ bytes: Span<UInt8>) {
        guard received.isEmpty else {
            received.append(copying: bytes)
            let all = received
            return select(by: all.span)
        }
        server.updateActivity(at: slot, from: .idle, to: .busy)
        select(by: bytes)
    }

    /// Passes the bytes to a connection of their protocol, or stores them.
    private func select(by bytes: Span<UInt8>) {
        let count = min(bytes.count, Self.preface.count)
        guard bytes.extracting(first: count).isEqual(to: Self.preface.span.extracting(first: count))
        else { return beginHTTP1(bytes) }
        if count == Self.preface.count { return beginHTTP2(bytes) }
        if received.isEmpty { received.append(copying: bytes) }
    }

    private func beginHTTP1(_ bytes: Span<UInt8>) {
        timer.take()?.cancel()
        let connection = ServerConnection(
            stream, of: server, slot: slot, countedClient: countedClient,
            facts: settings.plainFacts)
        server.replace(self, by: connection)
        guard settings.protocols.contains(.http1) else {
            return connection.rejectOpened(.malformed(.versionNotSupported))
        }
        connection.takeOver(bytes)
    }

    private func beginHTTP2(_ bytes: Span<UInt8>) {
        timer.take()?.cancel()
        guard
            let connection = H2ServerConnection(
                stream, of: server, slot: slot, countedClient: countedClient,
                facts: settings.plainFacts)
        else { return end() }
        server.replace(self, by: connection)
        connection.takeOver(bytes)
    }

    func streamEnded() { end() }

    func streamFailed(_ failure: IOFailure) { end() }

    func streamDrained() {}
    func streamBlocked() {}

    private func end() {
        timer.take()?.cancel()
        server.removeActivity(at: slot)
        stream.close()
        server.remove(self)
    }

    // MARK: As a connection of the server

    var exchanges: [Exchange] { [] }

    func leaveIdle(_ reason: LeaveReason) { end() }

    func close() { end() }

    /// It is idle until its first bytes arrive, like a connection of HTTP/1.1.
    func hasWaited(_ duration: Duration, now: Instant) -> Bool { now - accepted >= duration }

    var holdsMemory: Bool { false }

    /// It has no unsent output.
    func closeUnread() {}
    func readsOutput(now: Instant) -> Bool { true }
}

extension Span<UInt8> {
    fileprivate func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }
}
