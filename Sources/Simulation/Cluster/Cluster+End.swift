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
        for core in cores {
            for rest in core.unrest {
                violation(.leftovers, nil, "\(core.loop.name): \(rest), and every client has left")
            }
        }
        process?.close()
        let longest =
            cores.contains { $0.drains != nil } ? plan.configs.map(\.drainTimeout).max() ?? 0 : 0
        network.advance(by: .milliseconds(longest + 200))
        for core in cores {
            for rest in core.leftovers() {
                violation(.leftovers, nil, "\(core.loop.name): \(rest)")
            }
        }
        process?.end()
        for fault in process?.faults ?? [] { violation(.leftovers, nil, fault) }
        for host in hosts { host.close() }
        if !network.runUntilQuiet() { violation(.leftovers, nil, "it never gets quiet") }
        for rest in network.leftovers { violation(.leftovers, nil, rest) }
    }
}
