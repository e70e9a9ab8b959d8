import Basics
import Promises
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConnectContractTests {
    @Test(arguments: Conformer.allCases)
    func refusesWithoutAListener(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            guard let listener = harness.listen({ _ in }) else { return }
            let address = listener.address
            listener.close()
            outcome(of: harness.loop.connect(to: address)) { result in
                #expect(failure(of: result) == .connectionRefused)
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func refusesWithoutASocketFile(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let address = SocketAddress.unix(path: "/tmp/tributary-missing-\(conformer).sock")
            outcome(of: harness.loop.connect(to: address)) { result in
                #expect(failure(of: result) == .connectionRefused)
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func rejectsATooLongSocketPath(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let address = SocketAddress.unix(path: "/" + String(repeating: "x", count: 200))
            #expect(throws: IOFailure.addressInvalid) {
                _ = try harness.loop.listen(on: address, sharedPort: false) { _ in }
            }
            outcome(of: harness.loop.connect(to: address)) { result in
                #expect(failure(of: result) == .addressInvalid)
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func cancelledAttemptClosesItsConnection(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var served: (any ByteStream)?
            guard let listener = harness.listen({ stream in served = stream }) else { return }
            let attempt = harness.loop.connect(to: listener.address)
            var isSettled = false
            outcome(of: attempt) { result in
                #expect(throws: Cancelled.self) { try result.get() }
                isSettled = true
            }
            attempt.cancel()
            harness.later {
                #expect(isSettled)
                guard let stream = served else { return harness.finish() }  // cancelled in time
                let peer = Peer(stream)
                peer.onEnded = { _ in harness.finish() }
                peer.onFailed = { _ in harness.finish() }
                harness.own { stream.close() }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func closesTheConnectionOfADroppedResult(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let listener = harness.listen { stream in
                let peer = Peer(stream)
                harness.own { stream.close() }
                peer.onEnded = { _ in harness.finish() }
            }
            guard let listener else { return }
            outcome(of: harness.loop.connect(to: listener.address).asVoid()) { _ in }
        }
    }

    @Test(arguments: Conformer.allCases)
    func unixSocketsCarryBytesAndHaveNoAddress(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let address = SocketAddress.unix(path: "/tmp/tributary-contract-\(conformer).sock")
            let listener = harness.listen(on: address) { stream in
                #expect(stream.peer == .unnamedUnix)
                let peer = Peer(stream)
                peer.onReceived = { peer in if peer.text == "ping" { peer.send("pong") } }
                peer.onEnded = { peer in peer.stream.finishWriting() }
                harness.own { stream.close() }
            }
            #expect(listener?.address == address)
            harness.connect(to: address) { stream in
                let peer = Peer(stream)
                peer.send("ping")
                peer.stream.finishWriting()
                peer.onEnded = { peer in
                    #expect(peer.text == "pong")
                    #expect(peer.stream.peer == .unnamedUnix)
                    harness.finish()
                }
            }
        }
    }
}

func failure<Value>(of result: Result<Value, any Error>) -> IOFailure? {
    guard case .failure(let error) = result else { return nil }
    return error as? IOFailure
}
