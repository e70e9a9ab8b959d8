import Basics
import Promises
import Reactor
import SimReactor
import Synchronization
import Testing
import UVReactor

@Suite(.timeLimit(.minutes(5))) struct InboxContractTests {
    typealias Message = InboxStage.Message

    @Test(arguments: Conformer.loops)
    func messageWakesAWaitingLoop(_ conformer: Conformer) throws {
        try onInboxStage(conformer) { stage in
            let reader = InboxReader { _, _ in stage.finish() }
            stage.open(reader)
            // Nothing else is due: only the message can end the test.
            stage.onOtherThread { inbox in #expect(inbox.post(Message(0, 0))) }
        }
    }

    /// Four threads post at once: no message is lost, and those of each keep their order.
    @Test(arguments: Conformer.loops)
    func messagesOfOneThreadKeepTheirOrder(_ conformer: Conformer) throws {
        let (senders, count) = (4, 1000)
        try onInboxStage(conformer) { stage in
            let reader = InboxReader { reader, _ in
                guard reader.received.count == senders * count else { return }
                for sender in 0..<senders {
                    #expect(reader.numbers(of: sender) == Array(0..<count))
                }
                stage.finish()
            }
            stage.open(reader)
            for sender in 0..<senders {
                stage.onOtherThread { inbox in
                    for number in 0..<count { #expect(inbox.post(Message(sender, number))) }
                }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func receivesEveryMessageOnce(_ conformer: Conformer) throws {
        let count = 50_000
        try onInboxStage(conformer) { stage in
            let reader = InboxReader { reader, _ in
                guard reader.received.count == count else { return }
                #expect(reader.numbers(of: 0) == Array(0..<count))
                stage.finish()
            }
            stage.open(reader)
            stage.onOtherThread { inbox in
                for number in 0..<count { inbox.post(Message(0, number)) }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func storesMessagesPostedBeforeTheLoopExists(_ conformer: Conformer) throws {
        try onInboxStage(
            conformer,
            before: { inbox in
                for number in 0..<3 { #expect(inbox.post(Message(0, number))) }
            },
            { stage in
                let reader = InboxReader { reader, message in
                    guard message.number == 5 else { return }
                    #expect(reader.numbers(of: 0) == Array(0...5))
                    stage.finish()
                }
                // Before the inbox is opened, a loop that runs does not receive them either.
                stage.loop.timer(after: .milliseconds(5)) {
                    #expect(stage.inbox.post(Message(0, 3)))
                    stage.open(reader)
                    #expect(reader.received.isEmpty, "not inside of `open`")
                    for number in 4...5 { #expect(stage.inbox.post(Message(0, number))) }
                }
            })
    }

    /// Also on the receiver's own thread, and by the receiver itself.
    @Test(arguments: Conformer.loops)
    func neverReceivesInsidePost(_ conformer: Conformer) throws {
        try onInboxStage(conformer) { stage in
            var isPosting = false
            func post(_ number: Int) {
                isPosting = true
                #expect(stage.inbox.post(Message(0, number)))
                isPosting = false
            }
            let reader = InboxReader { reader, message in
                #expect(!isPosting)
                if message.number < 100 { return post(message.number + 1) }
                #expect(reader.numbers(of: 0) == Array(0...100))
                stage.finish()
            }
            stage.open(reader)
            stage.loop.timer(after: .zero) { post(0) }
        }
    }

    @Test(arguments: Conformer.loops)
    func readyJobsRunBeforeTheNextMessage(_ conformer: Conformer) throws {
        try onInboxStage(conformer) { stage in
            var order: [String] = []
            let reader = InboxReader { _, message in
                order.append("message \(message.number)")
                stage.loop.local.value(message.number)
                    .map { order.append("job \($0)") }
                    .catch { _ in }
            }
            stage.open(reader)
            stage.loop.timer(after: .zero) {
                for number in 0...1 { stage.inbox.post(Message(0, number)) }
            }
            stage.loop.timer(after: .milliseconds(20)) {
                #expect(order == ["message 0", "job 0", "message 1", "job 1"])
                stage.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func closedInboxRefusesMessagesAndReleasesItsReceiver(_ conformer: Conformer) throws {
        weak var released: InboxReader?
        try onInboxStage(conformer) { stage in
            var reader: InboxReader? = InboxReader {
                [close = stage.close, finish = stage.finish] _, _ in
                close()
                finish()
            }
            released = reader
            if let reader { stage.open(reader) }
            reader = nil
            #expect(released != nil, "the inbox owns its receiver")
            #expect(stage.inbox.post(Message(0, 0)))
        } after: { inbox in
            #expect(!inbox.post(Message(0, 1)))
        }
        #expect(released == nil)
    }

    /// Those that were posted together with the one that closes the inbox are dropped.
    @Test(arguments: Conformer.loops)
    func receiverThatClosesItsInboxReceivesNothingMore(_ conformer: Conformer) throws {
        try onInboxStage(conformer) { stage in
            let reader = InboxReader { reader, message in
                #expect(message.number <= 2)
                guard message.number == 2 else { return }
                stage.close()
                stage.loop.timer(after: .milliseconds(10)) {
                    #expect(reader.numbers(of: 0) == [0, 1, 2])
                    stage.finish()
                }
            }
            stage.open(reader)
            stage.loop.timer(after: .zero) {
                for number in 0...5 { #expect(stage.inbox.post(Message(0, number))) }
            }
        }
    }

    /// A worker that fails before it opens its inbox leaves one that never opens.
    @Test(arguments: Conformer.loops)
    func inboxCanBeClosedBeforeItOpens(_ conformer: Conformer) throws {
        try onInboxStage(conformer) { stage in
            #expect(stage.inbox.post(Message(0, 0)), "it waits for the loop")
            stage.close()
            #expect(!stage.inbox.post(Message(0, 1)))
            stage.open(InboxReader { _, _ in Issue.record("received of a closed inbox") })
            stage.loop.timer(after: .milliseconds(10)) { stage.finish() }
        }
    }

    /// Nothing closes the inbox but the end of the loop.
    @Test(arguments: Conformer.loops)
    func endedLoopRefusesMessages(_ conformer: Conformer) throws {
        weak var released: InboxReader?
        try onInboxStage(conformer) { stage in
            let reader = InboxReader { [finish = stage.finish] _, _ in finish() }
            released = reader
            stage.open(reader)
            #expect(stage.inbox.post(Message(0, 0)))
        } after: { inbox in
            #expect(!inbox.post(Message(0, 1)))
        }
        #expect(released == nil)
    }

    /// Threads that post while the loop ends: each one gets a definite answer, and messages that were
    /// received are a prefix of those that the inbox took.
    @Test func postingWhileTheLoopEndsIsSafe() throws {
        for _ in 0..<20 {
            let taken = Mutex(0)
            let reader = InboxReader { _, _ in }
            try onInboxStage(.libuv) { stage in
                stage.open(reader)
                for _ in 0..<2 {
                    stage.onOtherThread { inbox in
                        for number in 0..<200 where inbox.post(Message(0, number)) {
                            taken.withLock { $0 += 1 }
                        }
                    }
                }
                stage.loop.timer(after: .microseconds(200), stage.finish)
            }
            #expect(reader.received.count <= taken.withLock { $0 })
        }
    }
}

/// What only the simulated inbox has: times from a seed.
@Suite struct SimInboxTests {
    typealias Message = InboxStage.Message

    /// Two threads post in turns; gives the order of arrival and how long the last one took.
    private func run(
        seed: UInt64, _ latency: ClosedRange<Duration>
    ) -> (order: [Message], times: [Duration], hash: UInt64) {
        let network = SimNetwork(seed: seed)
        network.settings.messageLatency = latency
        let trace = SimTrace()
        network.trace = trace
        let inbox = SimInbox<Message>(on: network)
        let home = network.makeLoop("home")
        let began = network.clock.now
        var times: [Duration] = []
        let reader = InboxReader { _, _ in times.append(network.clock.now - began) }
        inbox.open(on: home, for: reader)
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

    /// The two kinds of times do not change each other's.
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
        let loop = network.makeLoop("home")
        let inbox = SimInbox<Message>(on: network)
        #expect(network.leftovers == [])
        inbox.open(on: loop, for: InboxReader())
        #expect(network.leftovers == ["home: 1 inboxes"])
        inbox.close()
        #expect(network.runUntilQuiet() && network.leftovers == [])
    }
}

private func == (
    left: (order: [InboxStage.Message], times: [Duration], hash: UInt64),
    right: (order: [InboxStage.Message], times: [Duration], hash: UInt64)
) -> Bool {
    left.order == right.order && left.times == right.times && left.hash == right.hash
}
