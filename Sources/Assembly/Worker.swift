import Basics
package import Gateway
import Promises
package import Reactor

/// One worker: a gateway instance that receives the messages of the control loop and reports to it.
///
/// Built on the thread of its loop and confined to it. Its inbox owns it; `onEnd` closes the inbox.
/// It does not depend on libuv: the daemon and the simulation run the same worker.
package final class Worker: MessageReceiver {
    private let setup: WorkerSetup
    /// Nil once the worker has ended.
    package private(set) var instance: GatewayInstance?
    private let onEnd: () -> Void

    /// Compiles the worker's plan from a configuration.
    ///
    /// - Parameter onEnd: called once, when the worker has ended; closes the inbox, ends the loop
    package convenience init(
        _ setup: WorkerSetup, compiling config: RecordedConfig, on loop: any Loop,
        onEnd: @escaping () -> Void
    ) throws(WorkerFailure) {
        let plan: Plan
        do throws(PlanError) {
            plan = try config.plan(workers: setup.workers)
        } catch {
            throw .internalError("\(error)")
        }
        if let budget = config.descriptors {
            loop.descriptors.acceptCeiling = budget.acceptCeiling
            loop.descriptors.connectCeiling = budget.connectCeiling
        }
        self.init(setup, plan, on: loop, onEnd: onEnd)
    }

    package init(
        _ setup: WorkerSetup, _ plan: Plan, on loop: any Loop, onEnd: @escaping () -> Void
    ) {
        self.setup = setup
        self.onEnd = onEnd
        let log = Log(
            level: plan.process.log.level.level, format: plan.process.log.format.format,
            clock: { loop.unixTime },
            sink: { [inbox = setup.log] in inbox.post($0) })
        instance = GatewayInstance(
            plan, loop: loop, log: log, shared: setup.shared,
            traces: { setup.report(.traced($0)) })
    }

    // MARK: Messages

    package func receive(_ message: WorkerMessage) {
        switch message {
        case .install(let compiled): if let plan = compiled.take() { instance?.install(plan) }
        case .announceDrain: instance?.announceDrain()
        case .stopAccepting: instance?.stopAccepting()
        case .drain: instance?.drain().whenSettled { [self] _ in end() }
        case .close: instance?.close().whenSettled { [self] _ in end() }
        case .heartbeat(let number): setup.answerHeartbeat(number)
        case .setLogLevel(let level): instance?.setLogLevel(level)
        case .takeSnapshot: if let instance { setup.report(.snapshot(instance.snapshot)) }
        case .readRecent(let query):
            if let answer = instance?.answer(query) { setup.report(.recent(answer)) }
        }
    }

    private func end() {
        guard instance != nil else { return }
        instance = nil
        onEnd()
    }
}
