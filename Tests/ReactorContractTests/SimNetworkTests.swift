import Basics
import Promises
import Reactor
import SimReactor
import Testing

/// Behaviour of the simulated network only.
@Suite struct SimNetworkTests {
    @Test func timeJumpsToTheNextEvent() {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("a")
        let start = loop.now
        var fired: [Duration] = []
        for seconds in [3600, 1, 60] {
            loop.timer(after: .seconds(seconds)) { fired.append(loop.now - start) }
        }
        #expect(network.runUntilQuiet())
        #expect(fired == [.seconds(1), .seconds(60), .seconds(3600)])
        #expect(loop.unixTime > 1_767_225_600_000_000_000)
    }

    @Test func advanceRunsOnlyEventsWithinTheDuration() {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("a")
        let start = loop.now
        var fired = 0
        for milliseconds in [5, 10, 11] {
            loop.timer(after: .milliseconds(milliseconds)) { fired += 1 }
        }
        network.advance(by: .milliseconds(10))
        #expect(fired == 2 && loop.now - start == .milliseconds(10))
        #expect(loop.leftovers == ["1 timers"])
    }

    @Test func endlessTimersAreNeverQuiet() {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("a")
        func again() { loop.timer(after: .zero, again) }
        again()
        #expect(!network.runUntilQuiet(eventsMax: 1000))
        network.clock.clear()
    }

    /// Jobs enqueued outside of events run before the next event.
    @Test func runsPromisesMadeOutsideOfEvents() {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("a")
        var value = 0
        loop.local.value(7).map { value = $0 }.catch { _ in }
        #expect(value == 0)
        #expect(network.runUntilQuiet())
        #expect(value == 7)
    }

    @Test func equalSeedsGiveEqualRuns() {
        func trace(_ seed: UInt64) -> [String] {
            let network = SimNetwork(seed: seed)
            network.settings.split = .random
            network.settings.latency = .microseconds(10)...(.milliseconds(5))
            let loop = network.makeLoop("a")
            var lines: [String] = []
            converse(on: loop) { line in lines.append("\(loop.now.nanoseconds) \(line)") }
            #expect(network.runUntilQuiet())
            #expect(network.leftovers == [])
            return lines
        }
        #expect(trace(5) == trace(5))
        #expect(trace(5) != trace(6))
    }

    private func converse(on loop: SimLoop, _ record: @escaping (String) -> Void) {
        let listener = try? loop.listen(on: .loopback, sharedPort: false) { stream in
            let peer = ScriptedPeer(stream)
            peer.onReceived = { peer in
                record("server \(peer.received.count)")
                peer.send("0123456789")
            }
            peer.onEnded = { peer in peer.stream.close() }
        }
        guard let listener else { return }
        for number in 0..<3 {
            loop.connect(to: listener.address).whenSettled { result in
                guard let stream = try? result.get() else { return }
                let peer = ScriptedPeer(stream)
                peer.onReceived = { peer in
                    record("client \(number) \(peer.received.count)")
                    if peer.received.count >= 10 { peer.stream.close() }
                }
                peer.send("question")
            }
        }
        loop.timer(after: .seconds(1)) { listener.close() }
    }

    @Test func cutsReadsAsConfigured() {
        let network = SimNetwork(seed: 1)
        network.settings.split = .sizes([1, 3])
        let loop = network.makeLoop("a")
        var sizes: [Int] = []
        let listener = try? loop.listen(on: .loopback, sharedPort: false) { stream in
            let peer = ScriptedPeer(stream)
            peer.onReceived = { peer in
                sizes.append(peer.received.count)
                peer.clearReceived()
            }
            peer.onEnded = { peer in peer.stream.close() }
        }
        connect(loop, to: listener?.address) { stream in
            stream.write([UInt8](repeating: 1, count: 9).span)
            stream.close()
        }
        #expect(network.runUntilQuiet())
        #expect(sizes == [1, 3, 1, 3, 1])
    }

    @Test func slowReaderLeavesBytesUnsent() {
        let network = SimNetwork(seed: 1)
        network.settings.windowBytes = 1000
        let loop = network.makeLoop("a")
        var server: ScriptedPeer?
        var client: ScriptedPeer?
        let listener = try? loop.listen(on: .loopback, sharedPort: false) { stream in
            server = ScriptedPeer(stream)
            stream.pauseReading()
        }
        connect(loop, to: listener?.address) { stream in
            client = ScriptedPeer(stream)
            stream.write([UInt8](repeating: 1, count: 2500).span)
        }
        #expect(network.runUntilQuiet())
        #expect(client?.stream.unsentBytes == 1500 && client?.drainedCount == 0)
        server?.stream.resumeReading()
        #expect(network.runUntilQuiet())
        #expect(client?.stream.unsentBytes == 0 && client?.drainedCount == 1)
        #expect(server?.received.count == 2500)
        client?.stream.close()
        server?.stream.close()
    }

    /// The server reads and writes at the same time; the journal has the order of the two events.
    @Test func journalOrdersReadsAndWritesOfOneMoment() {
        let network = SimNetwork(seed: 1)
        network.settings.keepsJournals = true
        network.settings.latency = .zero ... .zero
        let loop = network.makeLoop("a")
        var server: ScriptedPeer?
        var client: SimStream?
        let listener = try? loop.listen(on: .loopback, sharedPort: false) { stream in
            let peer = ScriptedPeer(stream)
            peer.onReceived = { peer in peer.send("answer") }
            server = peer
        }
        connect(loop, to: listener?.address) { stream in
            client = stream as? SimStream
            stream.write([1, 2, 3].span)
        }
        #expect(network.runUntilQuiet())
        let (sent, received) = (client?.outgoingJournal, client?.incomingJournal)
        if let sent, let received {
            #expect(sent.read(at: 0) == received.written(at: 0))
            #expect(sent.wasRead(at: 0, before: received, wroteAt: 0))
            #expect(!received.wasRead(at: 0, before: sent, wroteAt: 0))
            #expect(!sent.wasRead(at: 3, before: received, wroteAt: 0), "no such byte")
        }
        #expect(sent != nil && received != nil)
        client?.close()
        server?.stream.close()
    }

    /// That the reader closed its side does not show that it had read the end.
    @Test func recordsEndOfStreamOnlyWhenReaderIsNotified() {
        func endRead(closingOnBytes: Bool) -> Instant? {
            let network = SimNetwork(seed: 1)
            let loop = network.makeLoop("a")
            var client: SimStream?
            let listener = try? loop.listen(on: .loopback, sharedPort: false) { stream in
                let peer = ScriptedPeer(stream)
                peer.onReceived = { peer in if closingOnBytes { peer.stream.close() } }
                peer.onEnded = { peer in peer.stream.close() }
            }
            connect(loop, to: listener?.address) { stream in
                client = stream as? SimStream
                stream.write([1, 2, 3].span)
                stream.finishWriting()
            }
            #expect(network.runUntilQuiet())
            let journal = client?.outgoingJournal
            #expect(journal?.closed != nil && journal?.abandoned != nil)
            client?.close()
            return journal?.endRead
        }
        #expect(endRead(closingOnBytes: false) != nil)
        #expect(endRead(closingOnBytes: true) == nil)
    }

    @Test func connectBehaviorsMakeAnAddressFailOrSilent() {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("a")
        let far = SocketAddress.ip(.v4(0xC000_0201), port: 80)
        let dark = SocketAddress.ip(.v4(0xC000_0202), port: 80)
        network.connectBehaviors = [far: .fails(.unreachable), dark: .silent]
        var results: [String] = []
        loop.connect(to: far).whenSettled {
            results.append("far \(failure(of: $0) == .unreachable)")
        }
        loop.connect(to: dark).timeout(.seconds(5)).whenSettled { _ in
            results.append("dark after \(network.clock.now.nanoseconds / 1_000_000_000 - 3600) s")
        }
        #expect(network.runUntilQuiet())
        #expect(results == ["far true", "dark after 5 s"])
        #expect(network.leftovers == [], "given up by the time-out")
    }

    @Test func namesAreScriptedAndConcurrentLookUpsShared() {
        let network = SimNetwork(seed: 1)
        network.names["users"] = .addresses([.v4(1), .v4(2)], after: .milliseconds(3))
        network.names["broken"] = .fails(.nameServiceFailed)
        let loop = network.makeLoop("a")
        var results: [String] = []
        for name in ["users", "users", "broken", "unknown"] {
            loop.resolve(name).whenSettled { result in
                switch result {
                case .success(let addresses): results.append("\(name) \(addresses.count)")
                case .failure(let error): results.append("\(name) \(error)")
                }
            }
        }
        #expect(network.runUntilQuiet())
        #expect(
            results == [
                "broken name service failed", "unknown host not found", "users 2", "users 2",
            ])
        #expect(network.lookUps == 3)
        loop.resolve("users").whenSettled { _ in }
        #expect(network.runUntilQuiet())
        #expect(network.lookUps == 4, "results are not cached without a reference to the name")
    }

    @Test func loopsShareAPortAtRandom() {
        let network = SimNetwork(seed: 1)
        let address = SocketAddress.ip(.v4(0), port: 8080)
        var counts = [0, 0]
        let servers = [network.makeLoop("0"), network.makeLoop("1")]
        let listeners = servers.enumerated().map { index, loop in
            try? loop.listen(on: address, sharedPort: true) { stream in
                counts[index] += 1
                stream.close()
            }
        }
        let client = network.makeLoop("client")
        for _ in 0..<100 {
            connect(client, to: .ip(.v4(0x7F00_0001), port: 8080)) { $0.close() }
        }
        #expect(network.runUntilQuiet())
        #expect(counts[0] + counts[1] == 100 && counts[0] > 20 && counts[1] > 20)
        #expect(network.leftovers == ["0: 1 listeners", "1: 1 listeners"])
        for listener in listeners { listener?.close() }
        #expect(network.leftovers == [])
    }

    @Test func leftoversListOpenObjects() {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("worker 0")
        var kept: [any ByteStream] = []
        let listener = try? loop.listen(on: .loopback, sharedPort: false) { kept.append($0) }
        connect(loop, to: listener?.address) { kept.append($0) }
        #expect(network.runUntilQuiet())
        #expect(network.leftovers == ["worker 0: 2 streams", "worker 0: 1 listeners"])
        kept = []
        listener?.close()
        #expect(network.leftovers == [])
    }

    /// A kernel drops the packet when the queue is full, and the client sends it again.
    @Test func fullQueueDelaysConnectionsAndLosesNone() {
        let network = SimNetwork(seed: 1)
        network.settings.backlogMax = 2
        let loop = network.makeLoop("a")
        var accepted = 0
        let listener = try? loop.listen(on: .loopback, sharedPort: false) { stream in
            accepted += 1
            stream.close()
        }
        listener?.pause()
        var connected = 0
        for _ in 0..<5 { connect(loop, to: listener?.address) { _ in connected += 1 } }
        network.advance(by: .milliseconds(500))
        #expect(connected == 2 && accepted == 0)
        listener?.resume()
        network.advance(by: .seconds(3))
        #expect(connected == 5 && accepted == 5)
    }

    private func connect(
        _ loop: SimLoop, to address: SocketAddress?, _ body: @escaping (any ByteStream) -> Void
    ) {
        guard let address else { return }
        loop.connect(to: address).whenSettled { result in
            guard let stream = try? result.get() else { return }
            body(stream)
        }
    }
}
