import CUV
package import Reactor

/// The signals that a daemon handles.
package enum Signal: Sendable, CaseIterable {
    /// Ctrl-C.
    case interrupt
    /// Request to stop.
    case terminate
    /// Request to reload the configuration.
    case hangUp
    /// Please open the log file again.
    case user1

    /// The system's number.
    package var number: CInt {
        switch self {
        case .interrupt: SIGINT
        case .terminate: SIGTERM
        case .hangUp: SIGHUP
        case .user1: SIGUSR1
        }
    }

    /// Unblocks the signal on this thread. A process inherits the signal mask of its parent, which
    /// may block all signals, for example if a pool's thread started it.
    fileprivate func unblock() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}

/// Calls an action on a loop for each signal. Releasing it restores the default action of the
/// signal.
package final class SignalSource: HandleOwner {
    private let loop: UVLoop
    private var handle: Handle<uv_signal_t>?
    private var action: (() -> Void)?

    /// Calls `action` on `loop` each time the process receives `signal`.
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
                { source, _ in
                    HandleOwner.owner(of: source, as: SignalSource.self)?.signalReceived()
                },
                signal.number))
        signal.unblock()
    }

    /// Stops listening for the signal.
    package func close() {
        handle = nil
        _ = action.take()
    }

    override func abandon() { close() }

    private func signalReceived() {
        loop.beginCallback()
        action?()
        loop.finishCallback()
    }
}
