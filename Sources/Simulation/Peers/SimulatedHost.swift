import Basics
import Reactor
import SimReactor

/// One host of a backend: it reads requests, does what was drawn for each, and writes down what became
/// of them.
final class SimulatedHost {
    let address: SocketAddress
    private unowned let world: any HostWorld
    private let loop: SimLoop
    private let backend: Int
    private let prefix: String
    private var listener: (any Listener)?
    private var connections: [Connection] = []

    /// - Parameter prefix: stands before the path of every request
    init(
        at address: SocketAddress, backend: Int, prefix: String, on loop: SimLoop,
        of world: any HostWorld
    ) {
        self.address = address
        self.backend = backend
        self.prefix = prefix
        self.loop = loop
        self.world = world
    }

    func listen() throws(IOFailure) {
        guard listener == nil else { return }
        listener = try loop.listen(on: address, sharedPort: false) { [unowned self] stream in
            guard let stream = stream as? SimStream else { return }
            connections.append(Connection(stream, of: self))
        }
    }

    /// Refuses from now on; connections stay.
    func refuse() {
        listener?.close()
        listener = nil
    }

    /// Lets go of everything.
    func close() {
        refuse()
        for connection in connections { connection.stream.close() }
        connections = []
    }

    /// One connection of the gateway's to this host.
    private final class Connection: ByteStreamDelegate {
        let stream: SimStream
        private unowned let host: SimulatedHost
        private var rest: [UInt8] = []
        /// Where the next request begins among all that was read.
        private var position = 0
        /// Bytes sent.
        private var sent = 0
        private var count = 0
        private var current: Attempt?
        private var unasked: Int?
        private var hasBeenAskedSince = false
        private var isLeaving = false

        init(_ stream: SimStream, of host: SimulatedHost) {
            self.stream = stream
            self.host = host
            stream.start(self)
        }

        func streamReceived(_ bytes: Span<UInt8>) {
            rest.append(copying: bytes)
            if let current, !current.isAnswered, unasked == nil {
                host.world.violation(.peers, current.mark, "a second request on a busy connection")
            }
            switch Message.read(rest) {
            case .needsMore: return
            case .broken(let why):
                host.world.violation(.peers, nil, "the gateway sent nonsense: \(why)")
            case .message(let message):
                rest.removeFirst(message.length)
                begin(message)
                position += message.length
            }
        }

        private func begin(_ message: Message) {
            let world = host.world
            guard
                let attempt = world.attempt(
                    message, at: host.backend, prefix: host.prefix,
                    on: AttemptPlace(
                        stream: stream, requestStart: position, answerStart: sent, before: count,
                        unasked: unasked, isFirstAfterUnasked: !hasBeenAskedSince))
            else { return }
            count += 1
            current = attempt
            if unasked != nil { hasBeenAskedSince = true }
            perform(attempt, piece: 0, after: attempt.act.delay)
        }

        /// The next piece, then the one after it, then the end.
        private func perform(_ attempt: Attempt, piece: Int, after delay: Int) {
            let act = attempt.act
            if case .nothing = act.outcome, act.pieces.isEmpty { return }
            later(delay) { [unowned self] in
                guard current === attempt, !attempt.isAnswered else { return }
                if piece < act.pieces.count { send(act.pieces[piece]) }
                if piece + 1 < act.pieces.count, act.gap > 0 {
                    return perform(attempt, piece: piece + 1, after: act.gap)
                }
                for piece in act.pieces.dropFirst(piece + 1) { send(piece) }
                finish(attempt)
            }
        }

        private func finish(_ attempt: Attempt) {
            if case .answer = attempt.act.outcome { attempt.isAnswered = true }
            if attempt.act.isPoisonous {
                unasked = unasked ?? attempt.answerStart + attempt.act.answerLength
            }
            switch attempt.act.ending {
            case .stays: break
            case .closes: leaveWhenSent()
            case .resets: stream.reset()
            case .halfCloses: stream.finishWriting()
            }
            guard let afterwards = attempt.act.afterwards else { return }
            later(afterwards.delay) { [unowned self] in
                guard current === attempt, stream.heard.written == position,
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

        func streamEnded() { leave() }

        func streamBlocked() {}

        func streamDrained() { if isLeaving { leave() } }

        func streamFailed(_ failure: IOFailure) { noteGivenUp() }

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

/// Where on a connection a request stands.
struct AttemptPlace {
    let stream: SimStream
    let requestStart: Int
    let answerStart: Int
    let before: Int
    /// Where the first byte stands that was said unasked.
    let unasked: Int?
    let isFirstAfterUnasked: Bool
}

/// What hosts need of their world.
protocol HostWorld: AnyObject {
    /// A request arrived; nil if it is none that a client's request could have led to.
    func attempt(
        _ message: Message, at backend: Int, prefix: String, on place: AttemptPlace
    ) -> Attempt?

    func violation(_ checker: Checker, _ mark: String?, _ text: String)
}
