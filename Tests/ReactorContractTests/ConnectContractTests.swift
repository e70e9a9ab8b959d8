import Basics
import Promises
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConnectContractTests {
    @Test(arguments: Conformer.allCases)
    func refusesWithoutAListener(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            guard let listener = stage.listen({ _ in }) else { return }
            let address = listener.address
            listener.close()
            outcome(of: stage.loop.connect(to: address)) { result in
                #expect(failure(of: result) == .connectionRefused)
                stage.finish()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func refusesWithoutASocketFile(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let address = SocketAddress.unix(path: "/tmp/tributary-nobody-\(conformer).sock")
            outcome(of: stage.loop.connect(to: address)) { result in
                #expect(failure(of: result) == .connectionRefused)
                stage.finish()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func rejectsATooLongSocketPath(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let address = SocketAddress.unix(path: "/" + String(repeating: "x", count: 200))
            #expect(throws: IOFailure.addressInvalid) {
                _ = try stage.loop.listen(on: address, sharedPort: false) { _ in }
            }
            outcome(of: stage.loop.connect(to: address)) { result in
                #expect(failure(of: result) == .addressInvalid)
                stage.finish()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func cancelledAttemptClosesItsConnection(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var served: (any ByteStream)?
            guard let listener = stage.listen({ stream in served = stream }) else { return }
            let attempt = stage.loop.connect(to: listener.address)
            var isSettled = false
            outcome(of: attempt) { result in
                #expect(throws: Cancelled.self) { try result.get() }
                isSettled = true
            }
            attempt.cancel()
            stage.later {
                #expect(isSettled)
                guard let stream = served else { return stage.finish() }  // given up in time
                let peer = Peer(stream)
                peer.onEnded = { _ in stage.finish() }
                peer.onFailed = { _ in stage.finish() }
                stage.own { stream.close() }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func closesTheConnectionOfADroppedResult(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let listener = stage.listen { stream in
                let peer = Peer(stream)
                stage.own { stream.close() }
                peer.onEnded = { _ in stage.finish() }
            }
            guard let listener else { return }
            outcome(of: stage.loop.connect(to: listener.address).asVoid()) { _ in }
        }
    }

    @Test(arguments: Conformer.allCases)
    func unixSocketsCarryBytesAndHaveNoPeer(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let address = SocketAddress.unix(path: "/tmp/tributary-contract-\(conformer).sock")
            let listener = stage.listen(on: address) { stream in
                #expect(stream.peer == nil)
                let peer = Peer(stream)
                peer.onReceived = { peer in if peer.text == "ping" { peer.send("pong") } }
                peer.onEnded = { peer in peer.stream.finishWriting() }
                stage.own { stream.close() }
            }
            #expect(listener?.address == address)
            stage.connect(to: address) { stream in
                let peer = Peer(stream)
                peer.send("ping")
                peer.stream.finishWriting()
                peer.onEnded = { peer in
                    #expect(peer.text == "pong")
                    #expect(peer.stream.peer == nil)
                    stage.finish()
                }
            }
        }
    }
}

func failure<Value>(of result: Result<Value, any Error>) -> IOFailure? {
    guard case .failure(let error) = result else { return nil }
    return error as? IOFailure
}
