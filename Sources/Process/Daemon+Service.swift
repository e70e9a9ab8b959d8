import Assembly
import Basics
import Reactor
import UVReactor

/// What the daemon reports to the process or service manager that started it.
extension Daemon {
    /// All workers listen on this address.
    func reportReadiness(_ address: String) {
        servedAddress = address
        host.background?.ready(log: host.logFile)
        if let name = host.environment.notifySocket { startNotifying(NotifySocket(name)) }
        if host.watchesFiles { startWatching() }
        releaseUnusedPages()
    }

    /// Called once, at the end.
    func endServiceReports() {
        notifier?.close()
        watchdog?.close()
        fileWatch?.close()
    }

    /// One line for `systemctl status`.
    var serviceStatus: String {
        guard isServing else { return "draining" }
        return "serving on \(servedAddress)"
            + (hasFailedReload ? "; the last reload failed, the log has the reason" : "")
    }

    private func startNotifying(_ socket: NotifySocket) {
        let notifier = ServiceNotifier(loop: loop, send: socket.send) { [log] code in
            log.write(.warning, "service manager not notified") {
                $0.add("problem", ServiceFailure.words(code))
            }
        }
        self.notifier = notifier
        notifier.ready(serviceStatus)
        let watchdog = ServiceWatchdog(
            loop: loop, limit: host.environment.watchdogLimit, notifier: notifier,
            health: ServiceWatchdog.Health(
                problem: { [weak self] in self?.silence(for: WorkerMonitor.readyLimit) },
                isAlive: { [weak self] in self?.silence(for: WorkerMonitor.liveLimit) == nil },
                healthy: { [weak self] in self?.serviceStatus ?? "" }))
        self.watchdog = watchdog
        watchdog.start()
    }

    /// `worker 0 does not answer`, if one has not for so long.
    private func silence(for limit: Duration) -> String? {
        let workers = monitor.workersSilent(for: limit)
        return workers.isEmpty ? nil : WorkerMonitor.silence(of: workers)
    }

    private func startWatching() {
        let watch = FileWatch(
            loop: loop,
            FileWatch<[String: FileStatus?]>.Actions(
                fingerprint: { [weak self] in self?.fileStatuses ?? [:] },
                isCurrent: { [weak self] in self?.lastRead.isCurrent(in: SystemFiles.files) ?? true
                },
                canReload: { [weak self] in
                    guard let self else { return false }
                    return isServing && silence(for: WorkerMonitor.readyLimit) == nil
                },
                reload: { [weak self] in
                    self?.log.write(.info, "configuration files changed")
                    self?.reload()
                }))
        fileWatch = watch
        watch.start()
    }

    private var fileStatuses: [String: FileStatus?] {
        var statuses: [String: FileStatus?] = [:]
        for path in lastRead.paths { statuses.updateValue(FileStatus(of: path), forKey: path) }
        return statuses
    }
}
