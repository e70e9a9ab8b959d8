import CUV
package import Reactor

/// The signals that a daemon answers.
package enum Signal: Sendable, CaseIterable {
    /// Ctrl-C.
    case interrupt
    /// Please end.
    case terminate
    /// Please read the configuration again.
    case hangUp

    /// The system's number.
    package var number: CInt {
        switch self {
        case .interrupt: SIGINT
        case .terminate: SIGTERM
        case .hangUp: SIGHUP
        }
    }

    /// Lets it in on this thread. A process inherits what its parent had blocked, such as everything
    /// if that was a thread of a pool.
    fileprivate func unblock() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}

/// Turns one signal into calls on a loop. Dropping it gives the signal its default meaning again.
package final class SignalSource: HandleOwner {
    private let loop: UVLoop
    private var handle: Handle<uv_signal_t>?
    private var action: (() -> Void)?

    /// Calls `action` on `loop`, inside a turn, each time the process gets `signal`.
    package init(
        _ signal: Signal, on loop: UVLoop, _ action: @escaping () -> Void
    ) throws(IOFailure) {
        if loop.isClosing { throw .cancelled }
        let handle = try Handle { source in tributary_uv_signal_init(loop.raw, source) }
        let raw = handle.raw
        self.loop = loop
        self.handle = consume handle
        self.action = action
        super.init()
        self.handle?.setOwner(self)
        try checked(
            tributary_uv_signal_start(
                raw,
                { source, _ in HandleOwner.owner(of: source, as: SignalSource.self)?.arrived() },
                signal.number))
        signal.unblock()
    }

    /// Listens no more.
    package func close() {
        handle = nil
        _ = action.take()
    }

    override func abandon() { close() }

    private func arrived() {
        action?()
        loop.finishCallback()
    }
}
