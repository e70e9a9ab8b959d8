import Basics
import HTTP
import Reactor

/// One connection to a backend: carries bytes between its stream and the state machine, and
/// outcomes from there to the pool, which owns it.
///
/// It reads also while it is idle, so that a backend that closes, or says what nobody asked for,
/// is noticed at once.
final class ClientConnection {
    private let id: ConnectionID
    private let stream: any ByteStream
    /// The pool closes all its connections before it goes away.
    private unowned let pool: Pool
    /// This and the call are looked at with every read. Unchecked, since no access calls anybody.
    @exclusivity(unchecked) private var machine: ClientStateMachine
    @exclusivity(unchecked) private var call: Call?

    init(_ id: ConnectionID, on stream: any ByteStream, of pool: Pool, limits: Limits) {
        self.id = id
        self.stream = stream
        self.pool = pool
        unsafe machine = ClientStateMachine(limits: limits)
    }

    /// Begins to listen.
    func start() {
        stream.start(self)
    }

    /// Sends a call's request. The connection must be idle.
    func send(_ call: Call) {
        unsafe self.call = call
        unsafe machine.ask(call.request)
        let (head, body) = (call.request.head, call.request.body)
        stream.write(head.span, body.span)
    }

    /// Closes the connection without a word to anybody; what it was doing is forgotten. A request that
    /// has not left does not leave any more.
    func close() {
        unsafe call = nil
        stream.discardGathered()
        stream.close()
    }

    /// A request is one write, and counts as offered with its first byte.
    private var departure: ClientStateMachine.Departure {
        guard stream.hasOfferedAll else { return .none }
        return stream.unsentBytes == 0 ? .all : .some
    }

    private func run(_ action: ClientStateMachine.Action) {
        switch action {
        case .nothing: break
        case .retire: pool.lost(id)
        case .answer(let response, let mayStay):
            guard let call = unsafe call.take() else { return }
            // First the connection, so that whoever gets the answer finds it free.
            if mayStay { pool.returned(id) } else { pool.lost(id) }
            call.answer(response)
        case .fail(let failure, let mayResend):
            guard let call = unsafe call.take() else { return }
            pool.failed(call, on: id, failure, mayResend: mayResend)
        }
    }
}

extension ClientConnection: ByteStreamDelegate {
    func streamReceived(_ bytes: Span<UInt8>) {
        run(unsafe machine.received(bytes, departure: departure))
    }

    func streamEnded() {
        run(unsafe machine.ended(departure: departure))
    }

    func streamBlocked() {}

    func streamDrained() {}

    func streamFailed(_ failure: IOFailure) {
        run(unsafe machine.failed(failure, departure: departure))
    }
}
