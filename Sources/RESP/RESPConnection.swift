import Basics
import Reactor

/// One connection to the store. Commands are written in order, and each waits for its reply for a
/// limited time. Owned by its `RESPClient`, confined to its loop.
///
/// The stream buffers the commands of one loop iteration and sends them together.
final class RESPConnection {
    private let loop: any Loop
    private let stream: any ByteStream
    /// It closes its connections before it is released.
    private unowned let client: RESPClient
    private var reader: RESPReader
    private var pending = PendingReplies()
    /// Commands at the end of the queue that may not have left this process yet.
    private var buffered = 0
    private var output: [UInt8] = []
    private var timer: Timer?
    private var isOpen = true

    init(on stream: any ByteStream, of client: RESPClient, loop: any Loop, limits: RESPLimits) {
        self.stream = stream
        self.loop = loop
        self.client = client
        reader = RESPReader(limits: limits)
    }

    /// Starts to read. From now on the stream retains this object, until it is closed.
    func startReading() { stream.startReading(for: self) }

    /// Writes a command.
    func send(_ reply: PendingReply, _ write: (inout [UInt8]) -> Void) {
        guard isOpen else { return reply.fail(.closed) }
        if stream.hasOfferedAll { buffered = 0 }
        buffered += 1
        pending.append(reply)
        output.removeAll(keepingCapacity: true)
        write(&output)
        let bytes = output
        stream.write(bytes.span)
        armTimer()
    }

    /// Closes the connection without a call of the client; the commands without a reply fail.
    func close(_ failure: RESPFailure) {
        guard isOpen else { return }
        isOpen = false
        timer.take()?.cancel()
        stream.discardBuffered()
        stream.close()
        for reply in pending.takeAll() { reply.fail(failure) }
    }

    /// The connection failed by itself.
    private func end(_ failure: RESPFailure) {
        guard isOpen else { return }
        close(failure)
        client.connectionEnded(self, failure)
    }

    // MARK: Replies

    /// Commands that the store may have received: only these can have a reply.
    private var offered: Int {
        if stream.hasOfferedAll { buffered = 0 }
        return pending.count - buffered
    }

    private func receive(_ value: RESPValue) {
        guard offered > 0, let reply = pending.takeFirst() else {
            let text = if case .error(let text) = value { text } else { Bytes("a value") }
            return end(.unsolicited(text))
        }
        // A late reply is dropped here.
        guard !reply.isLate else { return }
        reply.fulfill(value)
        client.connection(self, received: value)
    }

    // MARK: Time

    /// One timer for all commands, due for the oldest. It is not moved when the reply arrives:
    /// firing without effect once in a timeout is cheaper.
    private func armTimer() {
        guard timer == nil, let due = pending.nextDeadline, due.nanoseconds < .max else { return }
        // The closure retains the connection, which the client may close and release meanwhile.
        timer = loop.timer(after: due - loop.now) { [self] in
            timer = nil
            failExpired()
            if isOpen { armTimer() }
        }
    }

    private func failExpired() {
        let now = loop.now
        while isOpen, let reply = pending.nextExpired(at: now) {
            guard !reply.isLate else { continue }
            reply.expire()
            client.commandTimedOut()
        }
    }
}

extension RESPConnection: ByteStreamDelegate {
    func streamReceived(_ bytes: Span<UInt8>) {
        var position = 0
        do throws(RESPError) {
            while isOpen, let value = try reader.read(bytes, from: &position) { receive(value) }
        } catch {
            end(.malformed(error))
        }
    }

    func streamEnded() { end(.ended) }

    func streamBlocked() {}

    func streamDrained() {}

    func streamFailed(_ failure: IOFailure) { end(.network(failure)) }
}
