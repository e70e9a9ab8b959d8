import Basics
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct StreamContractTests {
    @Test(arguments: Conformer.allCases)
    func bytesArriveInOrder(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.onReceived = { server in
                    guard server.text.count >= 12 else { return }
                    #expect(server.text == "head,body.xy")
                    harness.finish()
                }
                client.stream.write(Array("head,".utf8).span, Array("body.".utf8).span)
                client.stream.write([UInt8]().span, Array("x".utf8).span)
                client.stream.write(Array("y".utf8).span, [UInt8]().span)
            }
        }
    }

    /// Also when the delegate requests the next call from inside of one.
    @Test(arguments: Conformer.allCases)
    func flushesAsOftenAsRequested(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                var calls = 0
                client.onFlushes = { client in
                    calls += 1
                    client.send("\(calls)")
                    if calls < 3 { client.stream.flushSoon() }
                    if calls == 3 { harness.later { client.stream.flushSoon() } }
                }
                server.onReceived = { server in
                    guard server.text.count >= 4 else { return }
                    #expect(server.text == "1234" && calls == 4)
                    harness.finish()
                }
                client.stream.flushSoon()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func emptyWriteHasNoEffect(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                client.stream.write([UInt8]().span)
                server.onReceived = { _ in Issue.record("nothing was sent") }
                harness.later {
                    #expect(client.failures.isEmpty && client.drainedCount == 0)
                    harness.finish()
                }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func manySmallWritesKeepTheirOrder(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                let text = (0..<20_000).map { "\($0);" }.joined()
                server.onEnded = { server in
                    #expect(server.text == text)
                    harness.finish()
                }
                for number in 0..<20_000 { client.send("\(number);") }
                client.stream.finishWriting()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func unsentBytesAreQueuedAndDrained(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                let bytes = [UInt8](repeating: 7, count: 16 * 1024 * 1024)
                server.stream.pauseReading()
                client.stream.write(bytes.span)
                client.stream.write(bytes.span)
                let unsent = client.stream.unsentBytes
                #expect(unsent > 16 * 1024 * 1024 && unsent < 32 * 1024 * 1024)
                client.onDrained = { client in
                    #expect(client.stream.unsentBytes == 0)
                    client.stream.finishWriting()
                }
                server.onEnded = { server in
                    #expect(server.received.count == 2 * bytes.count)
                    #expect(server.received.allSatisfy { $0 == 7 })
                    #expect(client.drainedCount == 1)
                    harness.finish()
                }
                harness.later {
                    #expect(client.drainedCount == 0)
                    // The kernel has taken them, and the peer does not read.
                    #expect(client.stream.unacknowledgedBytes > 0)
                    server.stream.resumeReading()
                }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func writeTakenAtOnceReportsNoDrain(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.onReceived = { server in
                    guard server.text == "hello" else { return }
                    #expect(client.drainedCount == 0)
                    harness.finish()
                }
                client.send("hello")
                #expect(client.stream.unsentBytes == 0)
            }
        }
    }

    /// Small writes of one event are offered at its end.
    @Test(arguments: Conformer.allCases)
    func smallWritesAreBuffered(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.onReceived = { server in
                    guard server.text == "onetwo" else { return }
                    harness.finish()
                }
                #expect(client.stream.hasOfferedAll)
                client.send("one")
                client.send("two")
                #expect(!client.stream.hasOfferedAll && client.stream.unsentBytes == 0)
                harness.later { #expect(client.stream.hasOfferedAll) }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func largeWriteSendsTheBufferedBytesFirst(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                let large = [UInt8](repeating: 7, count: WriteBuffering.bytesMax)
                server.onReceived = { server in
                    guard server.received.count == large.count + 3 else { return }
                    #expect(server.received.starts(with: "one".utf8))
                    #expect(client.blockedCount == 0 && client.drainedCount == 0)
                    harness.finish()
                }
                client.send("one")
                client.stream.write(large.span)
                #expect(client.stream.hasOfferedAll)
            }
        }
    }

    @Test(arguments: Conformer.allCases, [true, false])
    func bufferedBytesAreOfferedBeforeTheEnd(_ conformer: Conformer, _ isClose: Bool) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.onEnded = { server in
                    #expect(server.text == "last words")
                    harness.finish()
                }
                client.send("last words")
                if isClose { client.stream.close() } else { client.stream.finishWriting() }
                #expect(client.stream.hasOfferedAll)
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func discardedBytesAreNeverSent(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                // Over TLS the stream ends without close_notify.
                for end in [\Peer.onEnded, \.onFailed] {
                    server[keyPath: end] = { server in
                        #expect(server.text == "first")
                        harness.finish()
                    }
                }
                client.send("first")
                harness.later {
                    client.send("second")
                    client.stream.discardBuffered()
                    client.stream.close()
                }
            }
        }
    }

    /// The kernel's buffer is full, which is detected only when buffered writes are offered. (TLS
    /// makes the bytes exceed the write buffer.)
    @Test(arguments: Conformer.loops)
    func reportsBufferedBytesThatTheKernelDoesNotTake(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.stream.pauseReading()
                var sent = 0
                let piece = [UInt8](repeating: 7, count: WriteBuffering.bytesMax)
                func fill() {
                    guard client.blockedCount == 0 else {
                        #expect(client.stream.unsentBytes > 0 && client.stream.hasOfferedAll)
                        server.stream.resumeReading()
                        return
                    }
                    client.stream.write(piece.span)
                    #expect(!client.stream.hasOfferedAll && client.stream.unsentBytes == 0)
                    sent += piece.count
                    harness.later(fill)
                }
                client.onDrained = { client in
                    #expect(client.blockedCount == 1 && client.stream.unsentBytes == 0)
                    client.stream.finishWriting()
                }
                server.onEnded = { server in
                    #expect(server.received.count == sent && client.drainedCount == 1)
                    harness.finish()
                }
                fill()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func writingWorksAfterTheEndOfThePeer(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.onEnded = { server in
                    #expect(server.text == "question")
                    server.send("answer")
                    server.stream.finishWriting()
                }
                client.onEnded = { client in
                    #expect(client.text == "answer")
                    harness.finish()
                }
                client.send("question")
                client.stream.finishWriting()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func finishWritingSendsUnsentBytesFirst(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                let bytes = [UInt8](repeating: 1, count: 8 * 1024 * 1024)
                server.stream.pauseReading()
                client.stream.write(bytes.span)
                client.send("last")
                client.stream.finishWriting()
                client.send("too late")
                server.onEnded = { server in
                    #expect(server.received.count == bytes.count + 4)
                    #expect(server.received.suffix(4) == ArraySlice("last".utf8))
                    harness.finish()
                }
                harness.later { server.stream.resumeReading() }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func reportsTheEndOnce(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                var ends = 0
                server.onEnded = { server in
                    ends += 1
                    server.stream.pauseReading()
                    server.stream.resumeReading()
                }
                client.stream.finishWriting()
                harness.later {
                    #expect(ends == 1)
                    harness.finish()
                }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func pauseTakesEffectAtOnceAndLosesNothing(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                var isPaused = false
                server.onReceived = { server in
                    #expect(!isPaused)
                    isPaused = true
                    server.stream.pauseReading()
                    harness.loop.timer(after: .microseconds(10)) {
                        isPaused = false
                        server.stream.resumeReading()
                    }
                }
                server.onEnded = { server in
                    #expect(!isPaused)
                    #expect(server.received == bytes)
                    harness.finish()
                }
                client.stream.write(bytes.span)
                client.stream.finishWriting()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func pausedStreamDoesNotReportTheEnd(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.stream.pauseReading()
                client.send("x")
                client.stream.finishWriting()
                harness.later {
                    #expect(!server.hasEnded && server.received.isEmpty)
                    server.onEnded = { _ in harness.finish() }
                    server.stream.resumeReading()
                }
            }
        }
    }

    /// The end is reported once, and nothing is lost.
    @Test(arguments: Conformer.allCases)
    func watchedStreamReportsAnEndBehindUnreadData(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.stream.pauseReading()
                server.stream.watchForEnd()
                client.send(String(repeating: "x", count: 10_000))
                client.stream.finishWriting()
                server.onEndPending = { _ in
                    #expect(server.pendingEnds == [.finished])
                    harness.later {
                        #expect(server.pendingEnds.count == 1)
                        #expect(!server.hasEnded && server.received.isEmpty)
                        server.onEnded = { server in
                            #expect(server.received.count == 10_000)
                            #expect(server.pendingEnds.count == 1)
                            harness.finish()
                        }
                        server.stream.resumeReading()
                    }
                }
            }
        }
    }

    /// An end that came before the watch is reported too, and a loss behind it.
    @Test(arguments: Conformer.allCases)
    func watchedStreamReportsALoss(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.stream.pauseReading()
                client.send("x")
                client.stream.close()
                harness.later {
                    #expect(server.pendingEnds.isEmpty, "not watched yet")
                    server.stream.watchForEnd()
                    server.onEndPending = { server in
                        guard server.pendingEnds.last == .lost else {
                            // The peer is not there to read it.
                            return server.send("y")
                        }
                        #expect(server.received.isEmpty)
                        server.stream.close()
                        harness.finish()
                    }
                }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func resumedStreamIsNotWatched(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.stream.watchForEnd()  // it is not paused
                server.stream.pauseReading()
                server.stream.watchForEnd()
                server.stream.resumeReading()
                server.onEnded = { server in
                    #expect(server.received.count == 1 && server.pendingEnds.isEmpty)
                    server.stream.watchForEnd()
                    harness.later {
                        #expect(server.pendingEnds.isEmpty)
                        harness.finish()
                    }
                }
                client.send("x")
                client.stream.finishWriting()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func streamPausedBeforeTheStartReadsWhenResumed(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.pair { client, server in
                server.pauseReading()
                let peer = Peer(server)
                harness.own { server.close() }
                client.write(Array("x".utf8).span)
                harness.later {
                    #expect(peer.received.isEmpty)
                    peer.onReceived = { _ in harness.finish() }
                    server.resumeReading()
                }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func deliversDataReceivedBeforeTheStart(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.pair { client, server in
                client.write(Array("early".utf8).span)
                harness.later {
                    let peer = Peer(server)
                    harness.own { server.close() }
                    peer.onReceived = { peer in
                        guard peer.text.count == 5 else { return }
                        #expect(peer.text == "early")
                        harness.finish()
                    }
                }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func closeInsideReceivedEndsAllCalls(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                var calls = 0
                server.onReceived = { server in
                    calls += 1
                    server.stream.close()
                    server.stream.close()
                    harness.later {
                        #expect(calls == 1)
                        harness.finish()
                    }
                }
                server.onEnded = { _ in Issue.record("called after close") }
                server.onFailed = { _ in Issue.record("called after close") }
                client.stream.write([UInt8](repeating: 1, count: 1_000_000).span)
                client.stream.finishWriting()
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func callsAfterCloseHaveNoEffect(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                client.stream.close()
                client.send("too late")
                client.stream.finishWriting()
                client.stream.pauseReading()
                client.stream.resumeReading()
                client.stream.startReading(for: client)
                #expect(client.stream.unsentBytes == 0)
                server.onReceived = { _ in Issue.record("written after close") }
                server.onEnded = { _ in
                    #expect(client.failures.isEmpty && !client.hasEnded)
                    harness.finish()
                }
            }
        }
    }

    /// `close` drops unsent bytes, and their request completes without a call. (Over TLS the peer
    /// detects the truncation: `TLSTests`.)
    @Test(arguments: Conformer.loops)
    func closeDropsUnsentBytes(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                let bytes = [UInt8](repeating: 1, count: 16 * 1024 * 1024)
                server.stream.pauseReading()
                client.stream.write(bytes.span)
                client.stream.close()
                #expect(client.stream.unsentBytes == 0)
                server.onEnded = { server in
                    #expect(server.received.count < bytes.count)
                    #expect(client.drainedCount == 0 && client.failures.isEmpty)
                    harness.finish()
                }
                harness.later { server.stream.resumeReading() }
            }
        }
    }

    /// The peer reads no end: over TLS no close_notify either.
    @Test(arguments: Conformer.allCases)
    func resetIsAFailureForThePeer(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.onEnded = { _ in Issue.record("looks complete") }
                server.onFailed = { server in
                    #expect(server.text == "last words")
                    #expect(server.failures == [.connectionReset])
                    #expect(client.failures.isEmpty && !client.hasEnded)
                    harness.finish()
                }
                server.onReceived = { server in
                    guard server.text == "last words" else { return }
                    client.stream.reset()
                    client.stream.reset()
                    client.send("too late")
                    #expect(client.stream.unsentBytes == 0)
                }
                client.send("last words")
            }
        }
    }

    /// The last bytes and the reset arrive together.
    @Test(arguments: Conformer.allCases)
    func resetBehindBytesIsAFailureForThePeer(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                server.onEnded = { _ in Issue.record("looks complete") }
                server.onFailed = { server in
                    #expect("first last".hasPrefix(server.text))
                    #expect(server.failures == [.connectionReset])
                    harness.finish()
                }
                server.onReceived = { server in
                    guard server.text == "first " else { return }
                    client.send("last")
                    client.stream.reset()
                }
                client.send("first ")
            }
        }
    }

    /// The peer had sent its end before: what it sent is complete.
    @Test func resetBehindTheEndIsAnEnd() throws {
        try onLoop(.libuv) { harness in
            harness.peers { client, server in
                server.onFailed = { server in
                    Issue.record("\(server.failures)")
                    harness.finish()
                }
                server.onEnded = { server in
                    #expect(server.text == "first last")
                    harness.finish()
                }
                server.onReceived = { server in
                    guard server.text == "first " else { return }
                    server.stream.pauseReading()
                    client.send("last")
                    client.stream.finishWriting()
                    harness.later {
                        client.stream.reset()
                        harness.later { server.stream.resumeReading() }
                    }
                }
                client.send("first ")
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func droppedStreamCloses(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var kept: (any ByteStream)?
            let listener = harness.listen { stream in kept = stream }
            guard let listener else { return }
            outcome(of: harness.loop.connect(to: listener.address)) { result in
                guard case .success(let client) = result else {
                    Issue.record("cannot connect: \(result)")
                    return harness.finish()
                }
                let peer = Peer(client)
                harness.own { client.close() }
                peer.onEnded = { _ in harness.finish() }
                harness.later {
                    #expect(kept != nil)
                    kept = nil
                }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func closeReleasesTheDelegate(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.pair { client, server in
                weak var delegate: Peer?
                do {
                    let peer = Peer(server)
                    delegate = peer
                }
                #expect(delegate != nil, "a started stream holds its delegate")
                server.close()
                #expect(delegate == nil)
                client.close()
                harness.finish()
            }
        }
    }

    /// Unread bytes make a kernel reset the connection at close. (Over TLS, close_notify is
    /// reported before.)
    @Test(arguments: Conformer.loops)
    func reportsAResetOnceAfterClosing(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.pair { client, server in
                let peer = Peer(client)
                client.write([UInt8](repeating: 1, count: 1000).span)
                peer.onFailed = { peer in
                    #expect(peer.failures == [.connectionReset])
                    peer.send("too late")
                    #expect(peer.stream.unsentBytes == 0)
                    harness.later {
                        #expect(peer.failures.count == 1 && !peer.hasEnded)
                        harness.finish()
                    }
                }
                harness.later { server.close() }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func writingToAClosedConnectionFailsFromTheLoop(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                var isWriting = false
                func writeOn() {
                    guard client.failures.isEmpty else { return }
                    isWriting = true
                    client.send("more")
                    isWriting = false
                    harness.loop.timer(after: .milliseconds(1)) { writeOn() }
                }
                client.onFailed = { client in
                    #expect(!isWriting)
                    #expect([.brokenPipe, .connectionReset].contains(client.failures.first))
                    harness.finish()
                }
                server.stream.close()
                writeOn()
            }
        }
    }

    /// A backend may respond early and close: a failed write must not lose its response.
    @Test(arguments: Conformer.allCases)
    func failedWriteDoesNotLoseReceivedData(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.pair { client, server in
                let peer = Peer(client)
                server.write(Array("413".utf8).span)
                server.close()
                peer.stream.pauseReading()
                harness.later {
                    peer.send("a body that")
                    harness.later {
                        peer.send("is not")
                        peer.send("read")
                        peer.stream.resumeReading()
                    }
                }
                peer.onReceived = { peer in #expect(!peer.stream.hasOfferedAll) }
                peer.onFailed = { peer in
                    #expect(peer.text == "413")
                    harness.finish()
                }
            }
        }
    }

    /// The same where the kernel has taken a part of the write, and the failure of its rest comes first.
    @Test(arguments: Conformer.allCases)
    func failureOfAnUnsentRestDoesNotLoseReceivedData(_ conformer: Conformer) throws {
        for _ in 0..<(conformer == .libuv ? 20 : 2) {
            try onLoop(conformer) { harness in
                harness.pair { client, server in
                    let peer = Peer(client)
                    // A backend that reads a bit of a request, answers it and closes.
                    let reader = Peer(server)
                    reader.onReceived = { reader in
                        reader.send("413")
                        reader.stream.close()
                    }
                    peer.onFailed = { peer in
                        #expect(peer.text == "413")
                        harness.finish()
                    }
                    peer.onEnded = { peer in
                        #expect(peer.text == "413")
                        harness.finish()
                    }
                    peer.stream.write([UInt8](repeating: 1, count: 12 << 20).span)
                    #expect(peer.stream.unsentBytes > 0)
                }
            }
        }
    }

    /// A paused reader that awaits a response gets it when it resumes; any other one learns of the failure at once.
    @Test(arguments: Conformer.loops, [false, true])
    func pausedReaderOfAResponseReadsItAfterAFailedWrite(
        _ conformer: Conformer, _ isWanted: Bool
    ) throws {
        try onLoop(conformer) { harness in
            harness.pair { client, server in
                let peer = Peer(client)
                peer.readsAfterFailedWrite = isWanted
                server.write(Array("413".utf8).span)
                peer.stream.write(Array("unread".utf8).span)
                peer.stream.pauseReading()
                harness.later {
                    server.close()
                    harness.later {
                        peer.send("a")
                        harness.later {
                            peer.send("b")
                            harness.later {
                                #expect(peer.failures.isEmpty == isWanted && peer.text.isEmpty)
                                guard isWanted else { return harness.finish() }
                                peer.stream.resumeReading()
                            }
                        }
                    }
                }
                if isWanted {
                    peer.onFailed = { peer in
                        #expect(peer.text == "413")
                        harness.finish()
                    }
                }
            }
        }
    }

    @Test(arguments: Conformer.allCases)
    func acceptedStreamHasAPeerAddress(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.pair { client, server in
                guard case .ip(.v4(0x7F00_0001), let port)? = server.peer else {
                    Issue.record("peer is \(String(describing: server.peer))")
                    return harness.finish()
                }
                #expect(port != 0)
                let address = server.peer
                server.close()
                #expect(server.peer == address, "known after the close as well")
                harness.finish()
            }
        }
    }

    /// A kernel has no address of a connection that was reset.
    @Test(arguments: Conformer.loops)
    func peerAddressIsKnownAfterAReset(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.pair { client, server in
                let peer = Peer(server)
                // Unread bytes reset the connection at close.
                server.write([UInt8](repeating: 1, count: 1000).span)
                peer.onFailed = { peer in
                    #expect(peer.failures == [.connectionReset])
                    guard case .ip(.v4(0x7F00_0001), _)? = peer.stream.peer else {
                        Issue.record("peer is \(String(describing: peer.stream.peer))")
                        return harness.finish()
                    }
                    harness.finish()
                }
                harness.later { client.close() }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func connectedStreamHasAPeerAddress(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            guard let listener = harness.listen({ stream in harness.own { stream.close() } }) else {
                return
            }
            harness.connect(to: listener.address) { client in
                #expect(client.peer == listener.address)
                harness.finish()
            }
        }
    }

    /// Two ends that respond to every chunk of each other, on many connections at once.
    @Test(arguments: Conformer.allCases)
    func manyConnectionsExchangeDataConcurrently(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var left = 50
            let listener = harness.listen { stream in
                let peer = Peer(stream)
                peer.onReceived = { peer in peer.stream.write([1, 2, 3].span) }
                peer.onEnded = { peer in peer.stream.close() }
            }
            guard let listener else { return }
            for _ in 0..<50 {
                harness.connect(to: listener.address) { stream in
                    let peer = Peer(stream)
                    peer.onReceived = { peer in
                        if peer.received.count < 300 { return peer.stream.write([9].span) }
                        peer.stream.close()
                        left -= 1
                        if left == 0 { harness.later { harness.finish() } }
                    }
                    peer.stream.write([0].span)
                }
            }
        }
    }
}
