import Basics
import Rehearsal
import SimReactor

/// Ends the run and checks that nothing is left.
extension Cluster {
    /// Disconnects the clients and closes the workers. Then no request, call, connection, timer, promise or
    /// object may be left.
    func shutDown() {
        for client in clients where !client.isDone {
            // Those that wait for the gateway to close an idle connection, or that nothing more happens
            // to.
            client.disconnect()
        }
        for client in peers where !client.isDone { client.disconnect() }
        network.advance(by: patience)
        for worker in workers {
            for work in worker.unfinishedWork {
                recordViolation(
                    .leftovers, nil,
                    "\(worker.loop.name): \(work), and every client has disconnected")
            }
        }
        process?.close()
        let longest =
            workers.contains { $0.drains != nil } ? plan.configs.map(\.drainTimeout).max() ?? 0 : 0
        network.advance(by: .milliseconds(longest + 200))
        for worker in workers {
            for rest in worker.leftovers() {
                recordViolation(.leftovers, nil, "\(worker.loop.name): \(rest)")
            }
        }
        process?.end()
        for fault in process?.faults ?? [] { recordViolation(.leftovers, nil, fault) }
        for host in hosts { host.close() }
        if !network.runUntilQuiet() {
            recordViolation(.leftovers, nil, "the network never becomes quiet")
        }
        for rest in network.leftovers { recordViolation(.leftovers, nil, rest) }
    }

    /// Within this time after the last client has disconnected, every request ends. While the host of
    /// a tunnel does not read, the gateway does not read from the client and cannot notice its end:
    /// `idle_timeout` ends the tunnel.
    private var patience: Duration {
        let mayMissTheEnd = streamAttempts.contains {
            $0.script.upgrade != nil && $0.script.reading.neverEnds && !$0.reader.isOver
        }
        let idleTimeouts = plan.configs.flatMap(\.endpoints).compactMap(\.proxy?.idleTimeout)
        guard mayMissTheEnd, let longest = idleTimeouts.max() else { return .seconds(1) }
        return .milliseconds(longest) + .seconds(1)
    }
}
