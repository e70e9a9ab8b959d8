import Basics
import Reactor

/// Reports the state of the daemon to its service manager: starting, ready, reloading, stopping.
///
/// Owned by the daemon, on the control loop. It never waits: a message that the manager's queue has
/// no room for is sent again a moment later, in order. It needs only a `Loop`, so tests run it in
/// virtual time.
final class ServiceNotifier {
    private let loop: any Loop
    private let send: (String) -> NotifySocket.Result
    private let failed: (CInt) -> Void
    /// The last message could not be sent, which was reported.
    private var hasFailed = false
    private var waiting: [String] = []
    private var retry: Timer?
    private var status = ""

    /// Between two attempts to send: short beside any limit of a unit, and no load.
    static let retryDelay = Duration.milliseconds(100)

    /// More states than a manager that is only busy misses. Beyond it the oldest is dropped, because
    /// the later ones replace it.
    static let waitingMax = 16

    /// - Parameters:
    ///   - send: sends one message without waiting
    ///   - failed: called with the error number for the first of several messages that cannot be sent
    init(
        loop: any Loop, send: @escaping (String) -> NotifySocket.Result,
        failed: @escaping (CInt) -> Void
    ) {
        self.loop = loop
        self.send = send
        self.failed = failed
    }

    /// The process serves: at its start, and after a reload, whatever its result.
    func ready(_ status: String) { post(["READY=1"], status) }

    /// A reload begins.
    ///
    /// - Parameter microseconds: the present time of CLOCK_MONOTONIC, by which the manager
    ///   distinguishes this reload from an earlier one
    func reloading(at microseconds: UInt64) {
        post(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"], "reloading the configuration")
    }

    /// The process begins to end.
    ///
    /// - Parameter limit: for how long that may take; the manager extends its own limit where it is
    ///   shorter
    func stopping(within limit: Duration, _ status: String) {
        let microseconds = max(0, limit.inNanoseconds / 1000)
        post(["STOPPING=1", "EXTEND_TIMEOUT_USEC=\(microseconds)"], status)
    }

    /// Another description of the same state.
    func describe(_ status: String) {
        guard status != self.status else { return }
        post([], status)
    }

    /// The process works. Left out while messages wait: the next one is due soon.
    func ping() {
        guard waiting.isEmpty else { return }
        _ = sendNow("WATCHDOG=1")
    }

    /// Drops what was not sent.
    func close() {
        retry?.cancel()
        waiting = []
    }

    private func post(_ lines: [String], _ status: String) {
        self.status = status
        let line = "STATUS=" + status.map { $0.isNewline ? " " : $0 }
        waiting.append((lines + [line]).joined(separator: "\n"))
        if waiting.count > Self.waitingMax { waiting.removeFirst() }
        if retry == nil { sendWaiting() }
    }

    private func sendWaiting() {
        retry = nil
        while let message = waiting.first {
            guard sendNow(message) else {
                retry = loop.timer(after: Self.retryDelay) { [weak self] in self?.sendWaiting() }
                return
            }
            waiting.removeFirst()
        }
    }

    /// False if the manager is busy; a message that cannot be sent at all is dropped.
    private func sendNow(_ message: String) -> Bool {
        switch send(message) {
        case .sent: hasFailed = false
        case .busy: return false
        case .failed(let code):
            if !hasFailed { failed(code) }
            hasFailed = true
        }
        return true
    }
}
