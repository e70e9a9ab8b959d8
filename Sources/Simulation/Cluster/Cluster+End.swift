import Basics
import Rehearsal
import SimReactor

extension Cluster {
    /// Everybody leaves. Then nothing may be left: no request, no call, no connection, no timer, no
    /// promise, no object.
    func end() {
        for client in clients where !client.isDone {
            // Only those who wait for the gateway to close an idle connection, and those for whom
            // nothing more can happen.
            client.leave()
        }
        network.advance(by: .seconds(1))
        for worker in workers {
            for rest in worker.unrest {
                violation(
                    .leftovers, nil, "\(worker.loop.name): \(rest), and every client has left")
            }
        }
        process?.close()
        let longest =
            workers.contains { $0.drains != nil } ? plan.configs.map(\.drainTimeout).max() ?? 0 : 0
        network.advance(by: .milliseconds(longest + 200))
        for worker in workers {
            for rest in worker.leftovers() {
                violation(.leftovers, nil, "\(worker.loop.name): \(rest)")
            }
        }
        process?.end()
        for fault in process?.faults ?? [] { violation(.leftovers, nil, fault) }
        for host in hosts { host.close() }
        if !network.runUntilQuiet() { violation(.leftovers, nil, "it never gets quiet") }
        for rest in network.leftovers { violation(.leftovers, nil, rest) }
    }
}
