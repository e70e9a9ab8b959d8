package import Basics
package import Promises
package import Reactor

/// The use of the store by one worker: one connection, and whether the store is *up* or *down*.
///
/// While the store is up, commands are sent at once, or wait for the connection that is being made;
/// each fails after `timeout`. Three failures in a row, an error that means an outage, and a failed
/// attempt to connect mark the store as down. Then no command is sent, and an attempt to connect
/// once in `probeInterval` ends with PING and the trial command: if these succeed in time, the store
/// is up.
///
/// Confined to its loop. Its owner calls `start` once and `close` before it releases the client.
package final class RESPClient {
    private let settings: RESPSettings
    private let loop: any Loop
    private let onStateChange: (State) -> Void
    private var link = Link.none
    /// Distinguishes attempts to connect, since a cancelled one still settles.
    private var attempts: UInt64 = 0
    /// When the last attempt began.
    private var attempted: Instant
    /// Ends an attempt that takes too long, or begins the next one.
    private var timer: Timer?
    private var failuresInARow = 0
    /// Commands that wait for the connection.
    private var unsent = PendingReplies()
    private var unsentTimer: Timer?
    private var isClosed = false
    /// Whether the next connection is reported as going up although the client was not down.
    private var reportsConnection: Bool

    /// Whether commands are sent.
    package private(set) var isUp = true

    package enum State: Equatable {
        case up
        case down(RESPFailure)
    }

    private enum Link {
        case none
        case dialing(LocalPromise<any ByteStream>)
        /// The first commands were sent; `missing` is the number of replies that have not arrived.
        case settingUp(RESPConnection, missing: Int)
        case ready(RESPConnection)
    }

    /// Between two attempts while the store is down.
    package static let probeInterval = Duration.seconds(1)

    private static let failuresMax = 3

    /// - Parameters:
    ///   - reportsFirstConnection: whether the first connection counts as going up
    ///   - onStateChange: called when the store goes down or up; the client starts as up
    package init(
        _ settings: RESPSettings, loop: any Loop, reportsFirstConnection: Bool = false,
        onStateChange: @escaping (State) -> Void
    ) {
        reportsConnection = reportsFirstConnection
        self.settings = settings
        self.loop = loop
        self.onStateChange = onStateChange
        attempted = loop.now
    }

    /// Begins to connect.
    package func start() { connect() }

    /// Closes the connection; commands without a reply fail with `closed`, and so do later ones.
    package func close() {
        isClosed = true
        isUp = false
        timer.take()?.cancel()
        unsentTimer.take()?.cancel()
        closeLink(.closed)
        for reply in unsent.takeAll() { reply.fail(.closed) }
    }

    // MARK: Commands

    /// Sends a command and promises its reply, which may be `RESPValue.error`. Rejects with
    /// `RESPFailure`. A cancelled command is sent all the same, and its reply is dropped.
    ///
    /// - Parameters:
    ///   - deadline: nil for `timeout` from now, or an earlier time
    ///   - write: appends the command
    package func send(
        until deadline: Instant? = nil, _ write: (inout [UInt8]) -> Void
    ) -> LocalPromise<RESPValue> {
        let resolver = LocalResolver<RESPValue>(on: loop.local)
        let promise = resolver.promise
        let latest = loop.now + settings.timeout
        let reply = PendingReply(resolver, until: min(deadline ?? latest, latest))
        switch link {
        case _ where !isUp: reply.fail(isClosed ? .closed : .down)
        case .ready(let connection): connection.send(reply, write)
        case .none, .dialing, .settingUp:
            write(&reply.unsent)
            unsent.append(reply)
            armUnsentTimer()
        }
        if let deadline, deadline < latest { expire(reply, at: deadline) }
        return promise
    }

    /// A command with an earlier deadline than those before it needs a timer of its own.
    private func expire(_ reply: PendingReply, at deadline: Instant) {
        loop.timer(after: deadline - loop.now) { [self] in
            guard !reply.isLate, reply.isPending else { return }
            reply.expire()
            commandTimedOut()
        }
    }

    private func armUnsentTimer() {
        guard unsentTimer == nil, let due = unsent.nextDeadline else { return }
        unsentTimer = loop.timer(after: due - loop.now) { [unowned self] in
            unsentTimer = nil
            while isUp, let reply = unsent.nextExpired(at: loop.now) {
                guard !reply.isLate else { continue }
                reply.expire()
                commandTimedOut()
            }
            if isUp { armUnsentTimer() }
        }
    }

    // MARK: Connecting

    private func connect() {
        attempts += 1
        attempted = loop.now
        let number = attempts
        let stream = RESPConnector(settings: settings, loop: loop).connect()
        link = .dialing(stream)
        timer = loop.timer(after: settings.connectTimeout) { [unowned self] in
            timer = nil
            failAttempt(.connectTimeout)
        }
        stream.whenSettled { [self] result in dialed(result, number) }
    }

    private func dialed(_ result: Result<any ByteStream, any Error>, _ number: UInt64) {
        // A stream of a cancelled attempt is closed when it is released.
        guard case .dialing = link, number == attempts else { return }
        switch result {
        case .success(let stream): setUp(stream)
        case .failure(let error): failAttempt(RESPFailure(error))
        }
    }

    private func setUp(_ stream: any ByteStream) {
        let connection = RESPConnection(
            on: stream, of: self, loop: loop, limits: settings.limits)
        let commands = settings.firstCommands
        link = .settingUp(connection, missing: commands.count)
        if !isUp { limitProbe() }
        connection.startReading()
        for command in commands {
            connection.send(PendingReply()) { $0.append(contentsOf: command.command.bytes) }
        }
    }

    /// A store that is down must reply in time before commands depend on it again.
    private func limitProbe() {
        timer.take()?.cancel()
        timer = loop.timer(after: settings.timeout) { [unowned self] in
            timer = nil
            failAttempt(.timedOut)
        }
    }

    /// A reply to one of the first commands.
    private func setUpReceived(
        _ value: RESPValue, _ connection: RESPConnection, missing: Int
    ) {
        if case .error(let text) = value { return failAttempt(.refused(text)) }
        guard settings.firstCommands.suffix(missing).first?.accepts(value) == true else {
            return failAttempt(.unexpected)
        }
        guard missing == 1 else { return link = .settingUp(connection, missing: missing - 1) }
        timer.take()?.cancel()
        link = .ready(connection)
        if !isUp || reportsConnection {
            failuresInARow = 0
            isUp = true
            reportsConnection = false
            onStateChange(.up)
        }
        sendUnsent(on: connection)
    }

    private func sendUnsent(on connection: RESPConnection) {
        unsentTimer.take()?.cancel()
        for reply in unsent.takeAll() where !reply.isLate {
            connection.send(reply) { $0.append(contentsOf: reply.unsent) }
            reply.unsent = []
        }
    }

    private func failAttempt(_ failure: RESPFailure) {
        timer.take()?.cancel()
        closeLink(failure)
        if isUp { goDown(failure) } else { scheduleProbe() }
    }

    private func closeLink(_ failure: RESPFailure) {
        let former = link
        link = .none
        switch former {
        case .none: break
        case .dialing(let stream): stream.cancel()
        case .settingUp(let connection, _), .ready(let connection): connection.close(failure)
        }
    }

    // MARK: Down

    private func goDown(_ failure: RESPFailure) {
        isUp = false
        failuresInARow = 0
        unsentTimer.take()?.cancel()
        onStateChange(.down(failure))
        for reply in unsent.takeAll() { reply.fail(.down) }
        switch link {
        case .dialing, .settingUp: break  // this attempt is the first probe
        case .none: scheduleProbe()
        case .ready:
            closeLink(.down)
            scheduleProbe()
        }
    }

    private func scheduleProbe() {
        let due = attempted + Self.probeInterval
        timer = loop.timer(after: due - loop.now) { [unowned self] in
            timer = nil
            connect()
        }
    }

    private func recordFailure(_ failure: RESPFailure) {
        guard isUp else { return }
        failuresInARow += 1
        if failuresInARow >= Self.failuresMax { goDown(failure) }
    }

    // MARK: Events of connections

    /// A reply arrived in time.
    func connection(_ connection: RESPConnection, received value: RESPValue) {
        if case .settingUp(let current, let missing) = link, current === connection {
            return setUpReceived(value, connection, missing: missing)
        }
        guard case .error(let text) = value else { return failuresInARow = 0 }
        if RESPErrorCode.isOutage(text) {
            if isUp { goDown(.refused(text)) }
        } else if !RESPErrorCode.isUnknownScript(text) {
            recordFailure(.refused(text))
        }
    }

    /// A command got no reply in time.
    func commandTimedOut() { recordFailure(.timedOut) }

    /// The connection is lost; it is closed, and its commands have failed.
    func connectionEnded(_ connection: RESPConnection, _ failure: RESPFailure) {
        switch link {
        case .settingUp(let current, _) where current === connection:
            link = .none
            failAttempt(failure)
        case .ready(let current) where current === connection:
            link = .none
            connectionLost(failure)
        case .none, .dialing, .settingUp, .ready: break
        }
    }

    /// A connection that worked is lost. A store that closes idle connections or that restarted
    /// accepts a new one.
    private func connectionLost(_ failure: RESPFailure) {
        switch failure {
        case .malformed, .unsolicited: goDown(failure)
        default:
            recordFailure(failure)
            if isUp { connect() }
        }
    }
}
