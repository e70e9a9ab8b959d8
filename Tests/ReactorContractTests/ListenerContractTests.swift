import Basics
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct ListenerContractTests {
    @Test(arguments: Conformer.loops)
    func choosesAPortForPortZero(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let address = harness.listen({ _ in })?.address
            guard case .ip(let host, let port)? = address else {
                Issue.record("listens on \(String(describing: address))")
                return harness.finish()
            }
            #expect(host == .v4(0x7F00_0001) && port != 0)
            harness.finish()
        }
    }

    @Test(arguments: Conformer.loops)
    func refusesAnAddressInUse(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            guard let listener = harness.listen({ _ in }) else { return }
            for sharedPort in [false, true] {
                #expect(throws: IOFailure.addressInUse) {
                    _ = try harness.loop.listen(on: listener.address, sharedPort: sharedPort) { _ in
                    }
                }
            }
            harness.finish()
        }
    }

    @Test(arguments: Conformer.loops)
    func listenersShareAPortIfAllRequestIt(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let loop = harness.loop
            do {
                let first = try loop.listen(on: .loopback, sharedPort: true) { _ in }
                let second = try loop.listen(on: first.address, sharedPort: true) { _ in }
                #expect(first.address == second.address)
                first.close()
                second.close()
            } catch {
                Issue.record("cannot share: \(error)")
            }
            harness.finish()
        }
    }

    @Test(arguments: Conformer.loops)
    func closeFreesTheAddress(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            guard let listener = harness.listen({ _ in }) else { return }
            listener.close()
            listener.close()
            #expect(harness.listen(on: listener.address, { _ in }) != nil)
            harness.finish()
        }
    }

    @Test(arguments: Conformer.loops)
    func pausedListenerLeavesConnectionsInTheQueue(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var accepted = 0
            var isInCall = false
            let listener = harness.listen { stream in
                #expect(!isInCall)
                harness.own { stream.close() }
                accepted += 1
                if accepted == 3 { harness.finish() }
            }
            guard let listener else { return }
            listener.pause()
            for _ in 0..<3 { harness.connect(to: listener.address) { _ in } }
            harness.later {
                #expect(accepted == 0)
                isInCall = true
                listener.resume()
                isInCall = false
                #expect(accepted == 0)
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func pauseInsideAcceptStopsTheNextConnection(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var accepted = 0
            var listener: (any Listener)?
            listener = harness.listen { stream in
                harness.own { stream.close() }
                accepted += 1
                listener?.pause()
            }
            guard let address = listener?.address else { return }
            for _ in 0..<3 { harness.connect(to: address) { _ in } }
            harness.later {
                #expect(accepted == 1)
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func closeAcceptsTheQueuedConnections(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var accepted: [any ByteStream] = []
            let listener = harness.listen { stream in
                accepted.append(stream)
                harness.own { stream.close() }
            }
            guard let listener else { return }
            listener.pause()
            var clients: [Peer] = []
            for _ in 0..<3 {
                harness.connect(to: listener.address) { stream in clients.append(Peer(stream)) }
            }
            harness.later {
                #expect(clients.count == 3 && accepted.isEmpty)
                listener.close()
                #expect(accepted.count == 3)
                for stream in accepted { stream.write([1].span) }
                harness.later {
                    #expect(clients.allSatisfy { $0.received == [1] && $0.failures.isEmpty })
                    harness.finish()
                }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func droppedListenerCloses(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            do {
                let address = try harness.loop.listen(on: .loopback, sharedPort: false) { _ in }
                    .address
                outcome(of: harness.loop.connect(to: address)) { result in
                    #expect(failure(of: result) == .connectionRefused)
                    harness.finish()
                }
            } catch {
                Issue.record("cannot listen: \(error)")
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func closeInsideAcceptIsAllowed(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var listener: (any Listener)?
            var accepted = 0
            listener = harness.listen { stream in
                accepted += 1
                harness.own { stream.close() }
                listener?.close()
            }
            guard let address = listener?.address else { return }
            harness.connect(to: address) { _ in }
            harness.later {
                #expect(accepted == 1)
                outcome(of: harness.loop.connect(to: address)) { result in
                    #expect(failure(of: result) == .connectionRefused)
                    harness.finish()
                }
            }
        }
    }
}
