import Basics
import Dispatch
import Foundation
import Promises
import Reactor
import Testing
import UVReactor

@Suite(.timeLimit(.minutes(5))) struct LoopTests {
    @Test func closesAndReportsOpenHandlesAtTheEnd() throws {
        final class Keeper: ByteStreamDelegate {
            var stream: (any ByteStream)?
            func streamReceived(_ bytes: Span<UInt8>) {}
            func streamEnded() {}
            func streamBlocked() {}
            func streamDrained() {}
            func streamFailed(_ failure: IOFailure) {}
        }
        weak var keeper: Keeper?
        let left = try UVLoop.run { loop in
            let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
                let holder = Keeper()  // the two retain each other
                holder.stream = stream
                stream.startReading(for: holder)
                keeper = holder
                loop.stop()
            }
            loop.connect(to: listener.address).onValue { stream in
                loop.timer(after: .seconds(60)) { stream.close() }
            }.catch { _ in }
            loop.timer(after: .seconds(60)) { listener.close() }
        }
        #expect(left.contains("UVStream"))
        #expect(keeper == nil, "the circle was opened")
    }

    /// Many timers that are due at once do not delay what a socket receives meanwhile.
    @Test func socketsArePolledBetweenDueTimers() throws {
        var timersRun = 0
        var timersBeforeRead: Int?
        try onLoop { loop in
            var server: (any ByteStream)?
            let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
                server = stream
                stream.startReading(for: Receiver { timersBeforeRead = timersRun })
            }
            loop.connect(to: listener.address).onValue { client in
                for number in 0..<1000 {
                    loop.timer(after: .milliseconds(5)) {
                        // The kernel has the byte when the write returns.
                        if number == 0 { client.write([1].span) }
                        timersRun += 1
                        guard timersRun == 1000 else { return }
                        loop.timer(after: .milliseconds(1)) {
                            client.close()
                            server?.close()
                            listener.close()
                            loop.stop()
                        }
                    }
                }
            }.catch { _ in }
        }
        #expect(timersRun == 1000)
        #expect(try #require(timersBeforeRead) < 1000)
    }

    /// A byte that arrived during a long callback is read before a timeout that expired meanwhile.
    @Test func socketsComeBeforeTimersThatBecameDueInALongCallback() throws {
        var events: [String] = []
        try onLoop { loop in
            var (client, server): ((any ByteStream)?, (any ByteStream)?)
            let receiver = Receiver {
                events.append("read")
                guard events.count == 1 else { return }
                client?.write([2].span)
                while loop.exactNow - loop.now < .milliseconds(30) {}
            }
            let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
                server = stream
                stream.startReading(for: receiver)
            }
            loop.connect(to: listener.address).onValue { stream in
                client = stream
                // Its byte is read in the next iteration, and the timer is due during that.
                stream.write([1].span)
                loop.timer(after: .milliseconds(10)) {
                    events.append("timer")
                    stream.close()
                    server?.close()
                    listener.close()
                    loop.stop()
                }
            }.catch { _ in }
        }
        #expect(events == ["read", "read", "timer"])
    }

    private final class Receiver: ByteStreamDelegate {
        let received: () -> Void
        init(_ received: @escaping () -> Void) { self.received = received }
        func streamReceived(_ bytes: Span<UInt8>) { received() }
        func streamEnded() {}
        func streamBlocked() {}
        func streamDrained() {}
        func streamFailed(_ failure: IOFailure) {}
    }

    @Test func failedSetUpLeavesNothingOpen() {
        struct Wrong: Error {}
        #expect(throws: Wrong.self) {
            _ = try UVLoop.run { loop in
                _ = try loop.listen(on: .loopback, sharedPort: false) { _ in }
                loop.timer(after: .zero) { Issue.record("never ran") }
                throw Wrong()
            }
        }
    }

    /// Handlers that run while the loop closes get failures for new work.
    @Test func workStartedWhileTheLoopClosesIsCancelled() throws {
        var failures: [IOFailure] = []
        // The look-up completes after the loop has ended, so its handler runs while the loop
        // closes.
        let hasEnded = DispatchSemaphore(value: 0)
        defer { hasEnded.signal() }
        let names = NameService { _ in
            hasEnded.wait()
            return .failure(.nameServiceFailed)
        }
        let left = try UVLoop.run(names: names) { loop in
            // TEST-NET-1 of RFC 5737: pending, or refused if the network is unreachable, when the
            // loop ends.
            loop.resolve("hanging").whenSettled { _ in
                loop.connect(to: .ip(.v4(0xC000_0201), port: 9)).whenSettled { result in
                    if case .failure(let error as IOFailure) = result { failures.append(error) }
                }
                #expect(throws: IOFailure.cancelled) {
                    _ = try loop.listen(on: .loopback, sharedPort: false) { _ in }
                }
                #expect(!loop.timer(after: .zero) {}.isPending)
                loop.resolve("another").whenSettled { result in
                    if case .failure(let error as IOFailure) = result { failures.append(error) }
                }
            }
            loop.stop()
        }
        #expect(left == [])
        #expect(failures == [.cancelled, .cancelled])
    }

    @Test func pendingConnectionAttemptIsCancelledAtTheEnd() throws {
        var failure: IOFailure?
        _ = try UVLoop.run { loop in
            let listener = try loop.listen(on: .loopback, sharedPort: false) { _ in }
            loop.connect(to: listener.address).whenSettled { result in
                if case .failure(let error as IOFailure) = result { failure = error }
            }
            loop.stop()
        }
        #expect(failure == .cancelled)
    }

    /// A thousand loops in turn: no descriptor stays open.
    @Test func repeatedLoopsLeakNoDescriptors() throws {
        let before = try openDescriptors()
        for _ in 0..<1000 {
            #expect(try UVLoop.run { loop in loop.timer(after: .zero) { loop.stop() } } == [])
        }
        #expect(try abs(openDescriptors() - before) < 200)
    }

    @Test func entropyIsSeededBySystem() throws {
        var first: [UInt64] = []
        for _ in 0..<3 {
            try onLoop { loop in
                first.append(loop.entropy.next())
                loop.stop()
            }
        }
        #expect(Set(first).count == 3)
    }

    @Test func unixTimeIsTheWallClock() throws {
        try onLoop { loop in
            let seconds = Double(loop.unixTime) / 1e9
            #expect(abs(seconds - Date().timeIntervalSince1970) < 5)
            loop.stop()
        }
    }

    /// TCP_NODELAY on both ends: a small response must not wait for an acknowledgement.
    @Test func smallWritesDoNotWaitForEachOther() throws {
        try onLoop { loop in
            final class End: ByteStreamDelegate {
                let stream: any ByteStream
                let onByte: (End) -> Void
                init(_ stream: any ByteStream, onByte: @escaping (End) -> Void) {
                    self.stream = stream
                    self.onByte = onByte
                    stream.startReading(for: self)
                }
                func streamReceived(_ bytes: Span<UInt8>) { onByte(self) }
                func streamEnded() {}
                func streamBlocked() {}
                func streamDrained() {}
                func streamFailed(_ failure: IOFailure) {}
            }
            var ends: [End] = []
            // Two writes per response: with Nagle's algorithm the second would wait 40 ms.
            let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
                ends.append(
                    End(stream) { end in
                        end.stream.write([1].span)
                        end.stream.write([2].span)
                    })
            }
            loop.connect(to: listener.address).onValue { stream in
                var bytes = 0
                let start = loop.now
                ends.append(
                    End(stream) { end in
                        bytes += 1
                        if bytes < 20 { return end.stream.write([3].span) }
                        #expect(loop.now - start < .milliseconds(400))
                        for end in ends { end.stream.close() }
                        ends = []
                        listener.close()
                        loop.stop()
                    })
                stream.write([0].span)
            }.catch { _ in }
        }
    }

    /// The clock of the loop stands still while a callback runs, but a delay counts from its call.
    @Test func promiseTimersDoNotFireEarlyAfterALongCallback() throws {
        try onLoop { loop in
            loop.timer(after: .zero) {
                while loop.exactNow - loop.now < .milliseconds(30) {}
                let start = loop.exactNow
                let delay = Duration.milliseconds(10)
                let local = loop.local
                let ends = [
                    local.value(1).delayed(by: delay),
                    local.never(as: Int.self).timeout(delay),
                    local.value(1).atLeast(delay),
                    after(delay, on: loop.context).promise.on(local).map { 1 },
                ].map { end in
                    end.settled.done { _ in #expect(loop.exactNow - start >= delay) }
                }
                local.all(ends).done { _ in loop.stop() }.cauterize()
            }
        }
    }

    /// Not at the next whole millisecond, for which the libuv timer would wait.
    @Test func promiseTimersWithoutADelayKeepTheirPlaceAmongTheTimers() throws {
        try onLoop { loop in
            loop.timer(after: .zero) {
                while loop.exactNow == loop.now {}
                var order: [String] = []
                loop.local.after(.zero).done { order.append("promise") }.cauterize()
                loop.timer(after: .zero) {
                    order.append("timer")
                    #expect(order == ["promise", "timer"])
                    loop.stop()
                }
            }
        }
    }
}

extension LoopTests {
    /// An iteration does not include the time in which the loop waits for a timer.
    @Test func iterationsAreMeasuredWithoutTheWaitForEvents() throws {
        let wait = Duration.milliseconds(40)
        var (elapsed, recorded) = (Int64(0), Histogram(.loopIterations))
        try onLoop { loop in
            let began = loop.exactNow
            loop.timer(after: .zero) {
                let former = loop.iterations.durations.count
                loop.timer(after: wait) {
                    loop.timer(after: .zero) {
                        elapsed = (loop.exactNow - began).inNanoseconds
                        recorded = loop.iterations.durations
                        #expect(recorded.count > former, "the iteration before was counted")
                        loop.stop()
                    }
                }
            }
        }
        #expect(recorded.sum >= 0)
        // libuv's timers have a resolution of a millisecond.
        #expect(recorded.sum <= elapsed - wait.inNanoseconds + 2_000_000)
    }

    @Test func anIterationIsTheTimeThatIsNotWaited() {
        let iterations = LoopIterations()
        iterations.end(at: Instant(nanoseconds: 1_000_000))
        #expect(iterations.durations.count == 0, "it had no callback")
        iterations.begin(at: Instant(nanoseconds: 11_000_000))
        iterations.end(at: Instant(nanoseconds: 61_000_000))
        #expect(iterations.durations.sum == 50_000_000)
        iterations.end(at: Instant(nanoseconds: 71_000_000))
        #expect(iterations.durations.sum == 50_000_000)
        #expect(iterations.durations.count == 1)
    }
}
