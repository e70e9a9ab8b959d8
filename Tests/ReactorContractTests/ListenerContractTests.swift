import Basics
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct ListenerContractTests {
    @Test(arguments: Conformer.loops)
    func choosesAPortForPortZero(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let address = stage.listen({ _ in })?.address
            guard case .ip(let host, let port)? = address else {
                Issue.record("listens on \(String(describing: address))")
                return stage.finish()
            }
            #expect(host == .v4(0x7F00_0001) && port != 0)
            stage.finish()
        }
    }

    @Test(arguments: Conformer.loops)
    func refusesAnAddressInUse(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            guard let listener = stage.listen({ _ in }) else { return }
            for sharedPort in [false, true] {
                #expect(throws: IOFailure.addressInUse) {
                    _ = try stage.loop.listen(on: listener.address, sharedPort: sharedPort) { _ in }
                }
            }
            stage.finish()
        }
    }

    @Test(arguments: Conformer.loops)
    func listenersShareAPortIfAllRequestIt(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let loop = stage.loop
            do {
                let first = try loop.listen(on: .loopback, sharedPort: true) { _ in }
                let second = try loop.listen(on: first.address, sharedPort: true) { _ in }
                #expect(first.address == second.address)
                first.close()
                second.close()
            } catch {
                Issue.record("cannot share: \(error)")
            }
            stage.finish()
        }
    }

    @Test(arguments: Conformer.loops)
    func closeFreesTheAddress(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            guard let listener = stage.listen({ _ in }) else { return }
            listener.close()
            listener.close()
            #expect(stage.listen(on: listener.address, { _ in }) != nil)
            stage.finish()
        }
    }

    @Test(arguments: Conformer.loops)
    func pausedListenerLeavesConnectionsInTheQueue(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var accepted = 0
            var isInCall = false
            let listener = stage.listen { stream in
                #expect(!isInCall)
                stage.own { stream.close() }
                accepted += 1
                if accepted == 3 { stage.finish() }
            }
            guard let listener else { return }
            listener.pause()
            for _ in 0..<3 { stage.connect(to: listener.address) { _ in } }
            stage.later {
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
        try onStage(conformer) { stage in
            var accepted = 0
            var listener: (any Listener)?
            listener = stage.listen { stream in
                stage.own { stream.close() }
                accepted += 1
                listener?.pause()
            }
            guard let address = listener?.address else { return }
            for _ in 0..<3 { stage.connect(to: address) { _ in } }
            stage.later {
                #expect(accepted == 1)
                stage.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func closeAcceptsTheQueuedConnections(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var accepted: [any ByteStream] = []
            let listener = stage.listen { stream in
                accepted.append(stream)
                stage.own { stream.close() }
            }
            guard let listener else { return }
            listener.pause()
            var clients: [Peer] = []
            for _ in 0..<3 {
                stage.connect(to: listener.address) { stream in clients.append(Peer(stream)) }
            }
            stage.later {
                #expect(clients.count == 3 && accepted.isEmpty)
                listener.close()
                #expect(accepted.count == 3)
                for stream in accepted { stream.write([1].span) }
                stage.later {
                    #expect(clients.allSatisfy { $0.received == [1] && $0.failures.isEmpty })
                    stage.finish()
                }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func droppedListenerCloses(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            do {
                let address = try stage.loop.listen(on: .loopback, sharedPort: false) { _ in }
                    .address
                outcome(of: stage.loop.connect(to: address)) { result in
                    #expect(failure(of: result) == .connectionRefused)
                    stage.finish()
                }
            } catch {
                Issue.record("cannot listen: \(error)")
                stage.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func closeInsideAcceptIsAllowed(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var listener: (any Listener)?
            var accepted = 0
            listener = stage.listen { stream in
                accepted += 1
                stage.own { stream.close() }
                listener?.close()
            }
            guard let address = listener?.address else { return }
            stage.connect(to: address) { _ in }
            stage.later {
                #expect(accepted == 1)
                outcome(of: stage.loop.connect(to: address)) { result in
                    #expect(failure(of: result) == .connectionRefused)
                    stage.finish()
                }
            }
        }
    }
}
