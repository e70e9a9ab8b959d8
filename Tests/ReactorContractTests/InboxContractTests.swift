import Basics
import Promises
import Reactor
import SimReactor
import Testing
import UVReactor

@Suite(.timeLimit(.minutes(5))) struct InboxContractTests {
    typealias Message = InboxHarness.Message

    @Test(arguments: Conformer.loops)
    func messageWakesAWaitingLoop(_ conformer: Conformer) throws {
        try withInbox(conformer) { harness in
            let reader = InboxReader { _, _ in harness.finish() }
            harness.open(reader)
            // Nothing else is due: only the message can end the test.
            harness.onOtherThread { inbox in #expect(inbox.post(Message(0, 0))) }
        }
    }

    /// Four threads post at once: no message is lost, and those of each thread keep their order.
    @Test(arguments: Conformer.loops)
    func messagesOfOneThreadKeepTheirOrder(_ conformer: Conformer) throws {
        let (senders, count) = (4, 1000)
        try withInbox(conformer) { harness in
            let reader = InboxReader { reader, _ in
                guard reader.received.count == senders * count else { return }
                for sender in 0..<senders {
                    #expect(reader.numbers(of: sender) == Array(0..<count))
                }
                harness.finish()
            }
            harness.open(reader)
            for sender in 0..<senders {
                harness.onOtherThread { inbox in
                    for number in 0..<count { #expect(inbox.post(Message(sender, number))) }
                }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func receivesEveryMessageOnce(_ conformer: Conformer) throws {
        let count = 50_000
        try withInbox(conformer) { harness in
            let reader = InboxReader { reader, _ in
                guard reader.received.count == count else { return }
                #expect(reader.numbers(of: 0) == Array(0..<count))
                harness.finish()
            }
            harness.open(reader)
            harness.onOtherThread { inbox in
                for number in 0..<count { inbox.post(Message(0, number)) }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func storesMessagesPostedBeforeTheLoopExists(_ conformer: Conformer) throws {
        try withInbox(
            conformer,
            before: { inbox in
                for number in 0..<3 { #expect(inbox.post(Message(0, number))) }
            },
            { harness in
                let reader = InboxReader { reader, message in
                    guard message.number == 5 else { return }
                    #expect(reader.numbers(of: 0) == Array(0...5))
                    harness.finish()
                }
                // A running loop does not receive them before the inbox is opened, either.
                harness.loop.timer(after: .milliseconds(5)) {
                    #expect(harness.inbox.post(Message(0, 3)))
                    harness.open(reader)
                    #expect(reader.received.isEmpty, "not inside of `open`")
                    for number in 4...5 { #expect(harness.inbox.post(Message(0, number))) }
                }
            })
    }

    /// Even on the receiver's own thread, and from the receiver itself.
    @Test(arguments: Conformer.loops)
    func neverReceivesInsidePost(_ conformer: Conformer) throws {
        try withInbox(conformer) { harness in
            var isPosting = false
            func post(_ number: Int) {
                isPosting = true
                #expect(harness.inbox.post(Message(0, number)))
                isPosting = false
            }
            let reader = InboxReader { reader, message in
                #expect(!isPosting)
                if message.number < 100 { return post(message.number + 1) }
                #expect(reader.numbers(of: 0) == Array(0...100))
                harness.finish()
            }
            harness.open(reader)
            harness.loop.timer(after: .zero) { post(0) }
        }
    }

    @Test(arguments: Conformer.loops)
    func readyJobsRunBeforeTheNextMessage(_ conformer: Conformer) throws {
        try withInbox(conformer) { harness in
            var order: [String] = []
            let reader = InboxReader { _, message in
                order.append("message \(message.number)")
                harness.loop.local.value(message.number)
                    .map { order.append("job \($0)") }
                    .catch { _ in }
            }
            harness.open(reader)
            harness.loop.timer(after: .zero) {
                for number in 0...1 { harness.inbox.post(Message(0, number)) }
            }
            harness.loop.timer(after: .milliseconds(20)) {
                #expect(order == ["message 0", "job 0", "message 1", "job 1"])
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func closedInboxRefusesMessagesAndReleasesItsReceiver(_ conformer: Conformer) throws {
        weak var released: InboxReader?
        try withInbox(conformer) { harness in
            var reader: InboxReader? = InboxReader {
                [close = harness.close, finish = harness.finish] _, _ in
                close()
                finish()
            }
            released = reader
            if let reader { harness.open(reader) }
            reader = nil
            #expect(released != nil, "the inbox owns its receiver")
            #expect(harness.inbox.post(Message(0, 0)))
        } after: { inbox in
            #expect(!inbox.post(Message(0, 1)))
        }
        #expect(released == nil)
    }

    /// Messages that were posted together with the one that closes the inbox are dropped.
    @Test(arguments: Conformer.loops)
    func receiverThatClosesItsInboxReceivesNothingMore(_ conformer: Conformer) throws {
        try withInbox(conformer) { harness in
            let reader = InboxReader { reader, message in
                #expect(message.number <= 2)
                guard message.number == 2 else { return }
                harness.close()
                harness.loop.timer(after: .milliseconds(10)) {
                    #expect(reader.numbers(of: 0) == [0, 1, 2])
                    harness.finish()
                }
            }
            harness.open(reader)
            harness.loop.timer(after: .zero) {
                for number in 0...5 { #expect(harness.inbox.post(Message(0, number))) }
            }
        }
    }

    /// A worker that fails early never opens its inbox.
    @Test(arguments: Conformer.loops)
    func inboxCanBeClosedBeforeItOpens(_ conformer: Conformer) throws {
        try withInbox(conformer) { harness in
            #expect(harness.inbox.post(Message(0, 0)), "it waits for the loop")
            harness.close()
            #expect(!harness.inbox.post(Message(0, 1)))
            harness.open(InboxReader { _, _ in Issue.record("received of a closed inbox") })
            harness.loop.timer(after: .milliseconds(10)) { harness.finish() }
        }
    }

    /// Only the end of the loop closes the inbox.
    @Test(arguments: Conformer.loops)
    func endedLoopRefusesMessages(_ conformer: Conformer) throws {
        weak var released: InboxReader?
        try withInbox(conformer) { harness in
            let reader = InboxReader { [finish = harness.finish] _, _ in finish() }
            released = reader
            harness.open(reader)
            #expect(harness.inbox.post(Message(0, 0)))
        } after: { inbox in
            #expect(!inbox.post(Message(0, 1)))
        }
        #expect(released == nil)
    }

    /// Threads post while the loop ends: each post has a definite result, and the received messages
    /// are a prefix of the accepted ones.
    @Test func postingWhileTheLoopEndsIsSafe() throws {
        for _ in 0..<20 {
            let taken = Guarded(0)
            let reader = InboxReader { _, _ in }
            try withInbox(.libuv) { harness in
                harness.open(reader)
                for _ in 0..<2 {
                    harness.onOtherThread { inbox in
                        for number in 0..<200 where inbox.post(Message(0, number)) {
                            taken.withLock { $0 += 1 }
                        }
                    }
                }
                harness.loop.timer(after: .microseconds(200), harness.finish)
            }
            #expect(reader.received.count <= taken.withLock { $0 })
        }
    }
}

/// Behaviour of the simulated inbox only: random latencies.
@Suite struct SimInboxTests {
    typealias Message = InboxHarness.Message

    /// Two threads post alternately; returns the order and times of arrival.
    private func run(
        seed: UInt64, _ latency: ClosedRange<Duration>
    ) -> (order: [Message], times: [Duration], hash: UInt64) {
        let network = SimNetwork(seed: seed)
        network.settings.messageLatency = latency
        let trace = SimTrace()
        network.trace = trace
        let inbox = SimInbox<Message>(on: network)
        let receiverLoop = network.makeLoop("receiver")
        let began = network.clock.now
        var times: [Duration] = []
        let reader = InboxReader { _, _ in times.append(network.clock.now - began) }
        inbox.open(on: receiverLoop, for: reader)
        let senders = [network.makeLoop("0"), network.makeLoop("1")]
        for number in 0..<50 {
            for (sender, loop) in senders.enumerated() {
                loop.timer(after: .zero) { inbox.post(Message(sender, number)) }
            }
        }
        #expect(network.runUntilQuiet())
        inbox.close()
        return (reader.received, times, trace.hash)
    }

    @Test func messagesOfDifferentThreadsOvertakeEachOther() {
        let posted = (0..<50).flatMap { [Message(0, $0), Message(1, $0)] }
        #expect(run(seed: 1, .zero ... .zero).order == posted, "without latency nothing overtakes")
        let order = run(seed: 1, .zero ... .milliseconds(1)).order
        #expect(order != posted && order.count == 100)
        for sender in 0...1 {
            #expect(order.filter { $0.sender == sender }.map(\.number) == Array(0..<50))
        }
    }

    @Test func timesAreWithinTheirRange() {
        let times = run(seed: 2, .milliseconds(2)...(.milliseconds(5))).times
        #expect(times.allSatisfy { (.milliseconds(2)...(.milliseconds(5))).contains($0) })
        #expect(Set(times).count > 2)
    }

    @Test func equalSeedsGiveEqualRuns() {
        let range = Duration.zero ... .milliseconds(1)
        #expect(run(seed: 3, range) == run(seed: 3, range))
        #expect(run(seed: 3, range).hash != run(seed: 4, range).hash, "arrivals are in the trace")
    }

    /// The two kinds of latencies are independent.
    @Test func messagesDoNotChangeTheTimesOfPackets() {
        func word(afterMessages count: Int) -> UInt64 {
            let network = SimNetwork(seed: 5)
            network.settings.messageLatency = .zero ... .milliseconds(1)
            let inbox = SimInbox<Message>(on: network)
            for number in 0..<count { inbox.post(Message(0, number)) }
            return network.entropy.next()
        }
        #expect(word(afterMessages: 0) == word(afterMessages: 10))
    }

    @Test func openInboxIsALeftover() {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("receiver")
        let inbox = SimInbox<Message>(on: network)
        #expect(network.leftovers == [])
        inbox.open(on: loop, for: InboxReader())
        #expect(network.leftovers == ["receiver: 1 inboxes"])
        inbox.close()
        #expect(network.runUntilQuiet() && network.leftovers == [])
    }
}

private func == (
    left: (order: [InboxHarness.Message], times: [Duration], hash: UInt64),
    right: (order: [InboxHarness.Message], times: [Duration], hash: UInt64)
) -> Bool {
    left.order == right.order && left.times == right.times && left.hash == right.hash
}
