package import Assembly
import Basics
import Promises
import Reactor
package import SimReactor

/// The process of the simulated workers: a control loop that sends them messages and receives theirs, a
/// thread that takes the log, and what the workers share.
package final class SimulatedProcess: MessageReceiver {
    let network: SimNetwork
    /// Change it before the first worker.
    package var shared: SharedResources
    /// Errors of the workers, one line each.
    package private(set) var faults: [String] = []

    private let control: SimLoop
    private let inbox: SimInbox<ControlMessage>
    private let monitor: WorkerMonitor
    private let logLoop: SimLoop
    private let logInbox: SimInbox<[UInt8]>
    private var workers: [SimulatedWorker] = []
    private var isDraining = false

    package init(on network: SimNetwork, _ journal: LogJournal) {
        self.network = network
        shared = SharedResources(names: network.makeNameService())
        control = network.makeLoop("control", names: shared.names)
        inbox = SimInbox(on: network)
        logLoop = network.makeLoop("log", names: shared.names)
        logInbox = SimInbox(on: network)
        monitor = WorkerMonitor(
            loop: control,
            log: Log(level: .info, format: .json, clock: { [control] in control.unixTime }) {
                journal.receive($0)
            })
        logInbox.open(on: logLoop, for: journal)
        inbox.open(on: control, for: self)
    }

    func setup(_ index: Int, of workers: Int) -> WorkerSetup {
        WorkerSetup(index: index, of: workers, shared: shared, control: inbox, log: logInbox)
    }

    /// Adds a worker; the one with the number 0 comes first.
    package func add(_ worker: SimulatedWorker) {
        workers.append(worker)
        monitor.add(worker.handle)
    }

    // MARK: Actions of the operator

    /// Reloads after this time, unless the process drains by then.
    package func install(_ config: RecordedConfig, after milliseconds: Int) {
        control.timer(after: .milliseconds(milliseconds)) { [unowned self] in
            guard !isDraining else { return }
            for worker in workers {
                guard let plan = CompiledPlan(config, workers: workers.count) else {
                    faults.append("a configuration cannot be compiled again")
                    return
                }
                send(.install(plan), to: worker)
            }
            monitor.configurationSent()
            collectReports()
        }
    }

    /// Drains after this time, as SIGTERM does.
    package func drain(after milliseconds: Int) {
        control.timer(after: .milliseconds(milliseconds)) { [unowned self] in
            isDraining = true
            for worker in workers {
                send(.announceDrain, to: worker)
                send(.drain, to: worker)
            }
        }
    }

    /// Closes the workers, unless they drain.
    package func close() {
        guard !isDraining else { return }
        control.timer(after: .zero) { [unowned self] in
            for worker in workers { send(.close, to: worker) }
        }
    }

    /// Closes the process itself, after its workers.
    package func end() {
        monitor.stop()
        inbox.close()
        logInbox.close()
    }

    private func send(_ message: WorkerMessage, to worker: SimulatedWorker) {
        if !worker.handle.send(message) {
            faults.append("\(worker.loop.name) refuses a message before its end")
        }
    }

    /// Collects snapshots of all workers, as a page of the admin server does.
    private func collectReports() {
        monitor.reports().whenSettled { [weak self] result in
            for report in (try? result.get()) ?? [] where !report.isUp {
                self?.faults.append("worker \(report.worker) sends no snapshot")
            }
        }
    }

    // MARK: Messages from the workers

    package func receive(_ message: ControlMessage) {
        switch message.event {
        case .listening: if message.worker == workers.count - 1 { monitor.startHeartbeats() }
        case .failed(let failure): faults.append("worker \(message.worker) fails: \(failure)")
        case .ended(let left):
            workers[message.worker].handle.hasEnded = true
            monitor.ended(message.worker)
            faults += left.map { "worker \(message.worker) leaves open: \($0)" }
        case .snapshot(let snapshot): monitor.received(snapshot, from: message.worker)
        case .traced: break
        case .recent(let answer): monitor.recent.received(answer, from: message.worker)
        }
        for worker in monitor.workersSilent(for: WorkerMonitor.readyLimit) {
            faults.append("worker \(worker) does not respond to heartbeats")
        }
    }
}
