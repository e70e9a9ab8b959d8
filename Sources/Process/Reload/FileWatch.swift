import Basics
import Reactor

/// Looks at intervals whether the files of the configuration have changed, and then calls `reload`.
///
/// Polling instead of a notification of the system: it sees every kind of replacement, such as the
/// `..data` link that Kubernetes exchanges, and works on network file systems. A change has to stand
/// still for one interval, so that a file that is being written is not read.
///
/// Owned by the daemon, on the control loop. It needs only a `Loop`, so tests run it in virtual time.
final class FileWatch<Fingerprint: Equatable> {
    /// The access of the watch to the files and to the daemon.
    struct Actions {
        /// The metadata of all files: cheap, and compared with the last one.
        let fingerprint: () -> Fingerprint
        /// Whether the files say what was read last; called when the metadata has changed.
        let isCurrent: () -> Bool
        /// Whether a reload is possible now; else it is tried at the next interval.
        let canReload: () -> Bool
        let reload: () -> Void
    }

    private let loop: any Loop
    private let actions: Actions
    private var seen: Fingerprint?
    /// How many intervals in a row saw a change that was not handled yet.
    private var unsettled = 0
    private var timer: Timer?

    static var interval: Duration { .seconds(1) }

    /// A file that changes all the time is read nevertheless.
    static var unsettledMax: Int { 5 }

    init(loop: any Loop, _ actions: Actions) {
        self.loop = loop
        self.actions = actions
    }

    func start() {
        timer = loop.timer(after: Self.interval) { [weak self] in
            self?.look()
            self?.start()
        }
    }

    func close() { timer?.cancel() }

    private func look() {
        let fingerprint = actions.fingerprint()
        if fingerprint != seen {
            seen = fingerprint
            unsettled += 1
            guard unsettled >= Self.unsettledMax else { return }
        }
        guard unsettled > 0 else { return }
        guard actions.canReload() else { return }
        unsettled = 0
        if !actions.isCurrent() { actions.reload() }
    }
}
