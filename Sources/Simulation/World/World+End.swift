import Basics
import SimReactor

extension World {
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
            core.close()
        }
        let longest =
            cores.contains { $0.drains != nil } ? configs.map(\.drainTimeout).max() ?? 0 : 0
        network.advance(by: .milliseconds(longest + 200))
        for core in cores {
            for rest in core.leftovers() {
                violation(.leftovers, nil, "\(core.loop.name): \(rest)")
            }
        }
        for host in hosts { host.close() }
        if !network.runUntilQuiet() { violation(.leftovers, nil, "it never gets quiet") }
        for rest in network.leftovers { violation(.leftovers, nil, rest) }
    }

    /// Everything that can be judged afterwards.
    func check() {
        AnswersCheck(world: self).run()
        OutcomeCheck(world: self).run()
        TimesCheck(world: self).run()
        CancellationCheck(world: self).run()
        CallsCheck(world: self).run()
        LimitsCheck(world: self).run()
        BreakerCheck(world: self).run()
        RetryBudgetCheck(world: self).run()
        HostsCheck(world: self).run()
        ProbesCheck(world: self).run()
        LogCheck(world: self).run()
    }
}
