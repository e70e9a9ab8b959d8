import Basics
package import Reactor
package import SimReactor

/// One host of a backend: it reads requests, does what was drawn for each, and writes down what became
/// of them.
package final class SimulatedHost {
    package let address: SocketAddress
    private unowned let delegate: any HostDelegate
    private let loop: SimLoop
    private let place: AskedPlace
    private var listener: (any Listener)?
    private var connections: [Connection] = []

    package init(
        at address: SocketAddress, _ place: AskedPlace, on loop: SimLoop,
        of delegate: any HostDelegate
    ) {
        self.address = address
        self.place = place
        self.loop = loop
        self.delegate = delegate
    }

    package func listen() throws(IOFailure) {
        guard listener == nil else { return }
        listener = try loop.listen(on: address, sharedPort: false) { [unowned self] stream in
            guard let stream = stream as? SimStream else { return }
            connections.append(Connection(stream, of: self))
        }
    }

    /// Refuses from now on; connections stay.
    package func refuse() {
        listener?.close()
        listener = nil
    }

    /// Lets go of everything.
    package func close() {
        refuse()
        for connection in connections { connection.stream.close() }
        connections = []
    }

    /// One connection of the gateway's to this host.
    private final class Connection: ByteStreamDelegate {
        package let stream: SimStream
        private unowned let host: SimulatedHost
        private var rest: [UInt8] = []
        /// Where the next request begins among all that was read.
        private var position = 0
        /// Bytes sent.
        private var sent = 0
        private var count = 0
        private var current: Served?
        private var unasked: Int?
        private var hasBeenAskedSince = false
        private var isLeaving = false

        package init(_ stream: SimStream, of host: SimulatedHost) {
            self.stream = stream
            self.host = host
            stream.startReading(for: self)
        }

        package func streamReceived(_ bytes: Span<UInt8>) {
            rest.append(copying: bytes)
            if let current, !current.isAnswered, unasked == nil {
                host.delegate.found(
                    .busyConnection, (current as? Attempt)?.mark,
                    "a second request on a busy connection")
            }
            switch PeerMessage.read(rest) {
            case .needsMore: return
            case .broken(let why):
                host.delegate.found(.malformed, nil, "the gateway sent nonsense: \(why)")
            case .message(let message):
                rest.removeFirst(message.length)
                begin(message)
                position += message.length
            }
        }

        private func begin(_ message: PeerMessage) {
            guard
                let served = host.delegate.asked(
                    message, at: host.place,
                    on: ServedPlace(
                        stream: stream, requestStart: position, answerStart: sent, before: count,
                        unasked: unasked, isFirstAfterUnasked: !hasBeenAskedSince))
            else { return }
            count += 1
            current = served
            if unasked != nil { hasBeenAskedSince = true }
            perform(served, piece: 0, after: served.act.delay)
        }

        /// The next piece, then the one after it, then the end.
        private func perform(_ served: Served, piece: Int, after delay: Int) {
            let act = served.act
            if case .nothing = act.outcome, act.pieces.isEmpty { return }
            later(delay) { [weak self] in
                guard let self, current === served, !served.isAnswered else { return }
                if piece < act.pieces.count { send(act.pieces[piece]) }
                if piece + 1 < act.pieces.count, act.gap > 0 {
                    return perform(served, piece: piece + 1, after: act.gap)
                }
                for piece in act.pieces.dropFirst(piece + 1) { send(piece) }
                finish(served)
            }
        }

        private func finish(_ served: Served) {
            if case .answer = served.act.outcome { served.isAnswered = true }
            if served.act.isPoisonous {
                unasked = unasked ?? served.answerStart + served.act.answerLength
            }
            switch served.act.ending {
            case .stays: break
            case .closes: leaveWhenSent()
            case .resets: stream.reset()
            case .halfCloses: stream.finishWriting()
            }
            guard let afterwards = served.act.afterwards else { return }
            later(afterwards.delay) { [weak self] in
                guard let self, current === served, stream.incomingJournal.written == position,
                    stream.unsentBytes == 0
                else { return }
                switch afterwards.kind {
                case .closes: leave()
                case .resets: stream.reset()
                case .speaks:
                    unasked = unasked ?? sent
                    send(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull".utf8))
                }
            }
        }

        private func send(_ bytes: [UInt8]) {
            sent += bytes.count
            stream.write(bytes.span)
        }

        private func later(_ milliseconds: Int, _ action: @escaping () -> Void) {
            host.loop.timer(after: .milliseconds(milliseconds), action)
        }

        package func streamEnded() { leave() }

        package func streamBlocked() {}

        package func streamDrained() { if isLeaving { leave() } }

        package func streamFailed(_ failure: IOFailure) { noteGivenUp() }

        private func leaveWhenSent() {
            stream.finishWriting()
            guard stream.unsentBytes > 0 else { return leave() }
            isLeaving = true
        }

        private func leave() {
            noteGivenUp()
            stream.close()
        }

        private func noteGivenUp() {
            if let current, current.givenUp == nil { current.givenUp = host.loop.now }
            current = nil
        }
    }
}

/// The owner of a simulated host.
package protocol HostDelegate: AnyObject {
    /// A request arrived; nil if the host cannot respond to it.
    func asked(_ message: PeerMessage, at host: AskedPlace, on place: ServedPlace) -> Served?

    func found(_ fault: PeerFault, _ mark: String?, _ text: String)
}
