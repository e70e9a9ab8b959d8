import Basics
import Reactor
import SimReactor
import Testing

@testable import Process

/// Messages to a service manager, in virtual time.
@Suite struct ServiceNotifierTests {
    /// A manager whose queue can be full.
    private final class Manager {
        var messages: [String] = []
        var result = NotifySocket.Result.sent
        var errors: [CInt] = []

        func receive(_ message: String) -> NotifySocket.Result {
            if result == .sent { messages.append(message) }
            return result
        }
    }

    private let network = SimNetwork(seed: 1)
    private let loop: SimLoop
    private let manager = Manager()
    private let notifier: ServiceNotifier

    init() {
        loop = network.makeLoop("control")
        notifier = ServiceNotifier(loop: loop, send: manager.receive) { [manager] in
            manager.errors.append($0)
        }
    }

    @Test func statesAreMessagesInTheirOrder() {
        notifier.ready("serving")
        notifier.reloading(at: 1_234_567)
        notifier.ready("serving")
        notifier.ping()
        notifier.stopping(within: .milliseconds(1500), "draining")
        #expect(
            manager.messages == [
                "READY=1\nSTATUS=serving",
                "RELOADING=1\nMONOTONIC_USEC=1234567\nSTATUS=reloading the configuration",
                "READY=1\nSTATUS=serving", "WATCHDOG=1",
                "STOPPING=1\nEXTEND_TIMEOUT_USEC=1500000\nSTATUS=draining",
            ])
        #expect(network.leftovers.isEmpty)
    }

    @Test func onlyAnotherStatusIsSent() {
        notifier.ready("serving")
        notifier.describe("serving")
        notifier.describe("worker 0\ndoes not answer")
        #expect(
            manager.messages == ["READY=1\nSTATUS=serving", "STATUS=worker 0 does not answer"])
    }

    @Test func whatABusyManagerMissedIsSentLaterInOrder() {
        manager.result = .busy
        notifier.ready("serving")
        notifier.ping()
        notifier.stopping(within: .zero, "draining")
        #expect(manager.messages.isEmpty)
        manager.result = .sent
        network.advance(by: ServiceNotifier.retryDelay)
        #expect(
            manager.messages == [
                "READY=1\nSTATUS=serving",
                "STOPPING=1\nEXTEND_TIMEOUT_USEC=0\nSTATUS=draining",
            ])
        #expect(manager.errors.isEmpty && network.leftovers.isEmpty)
    }

    @Test func theNumberOfWaitingMessagesIsBounded() {
        manager.result = .busy
        for number in 0..<100 { notifier.describe("\(number)") }
        manager.result = .sent
        network.advance(by: ServiceNotifier.retryDelay)
        #expect(manager.messages.count == ServiceNotifier.waitingMax)
        #expect(manager.messages.last == "STATUS=99")
    }

    @Test func aManagerThatIsGoneIsReportedAndNotTriedAgain() {
        manager.result = .failed(2)
        notifier.ready("serving")
        notifier.ping()
        #expect(manager.errors == [2], "the first one alone is reported")
        manager.result = .sent
        network.advance(by: .seconds(10))
        #expect(manager.messages.isEmpty && network.leftovers.isEmpty)
        notifier.ping()
        manager.result = .failed(3)
        notifier.ping()
        #expect(manager.errors == [2, 3])
    }

    @Test func nothingIsLeftAfterTheEnd() {
        manager.result = .busy
        notifier.ready("serving")
        notifier.close()
        #expect(network.leftovers.isEmpty)
    }
}

/// The watchdog of a service manager, in virtual time.
@Suite struct ServiceWatchdogTests {
    private final class Workers {
        var problem: String?
        var isAlive = true
    }

    private let network = SimNetwork(seed: 1)
    private let loop: SimLoop
    private let workers = Workers()

    init() { loop = network.makeLoop("control") }

    /// The messages of some time.
    private func messages(
        limit: Duration?, for duration: Duration, _ change: () -> Void = {}
    ) -> [String] {
        var messages: [String] = []
        let notifier = ServiceNotifier(
            loop: loop,
            send: {
                messages.append($0)
                return .sent
            }, failed: { _ in })
        let watchdog = ServiceWatchdog(
            loop: loop, limit: limit, notifier: notifier,
            health: ServiceWatchdog.Health(
                problem: { [workers] in workers.problem },
                isAlive: { [workers] in workers.isAlive }, healthy: { "serving" }))
        watchdog.start()
        change()
        network.advance(by: duration)
        watchdog.close()
        #expect(network.leftovers.isEmpty)
        return messages
    }

    @Test func aMessageIsSentTwiceInTheLimit() {
        let messages = messages(limit: .seconds(3), for: .seconds(15))
        #expect(messages == Array(repeating: "WATCHDOG=1", count: 11))
    }

    @Test func aLongLimitIsNotWaitedFor() {
        #expect(messages(limit: .seconds(600), for: .seconds(10)).count == 6)
    }

    @Test func aLimitOfNothingDoesNotLoadTheProcessor() {
        #expect(messages(limit: .microseconds(1), for: .seconds(1)).count <= 101)
    }

    @Test func withoutALimitNoMessageIsSent() {
        #expect(messages(limit: nil, for: .seconds(60)).isEmpty)
    }

    @Test func aWorkerThatHangsStopsTheMessages() {
        let messages = messages(limit: .seconds(2), for: .seconds(60)) {
            workers.isAlive = false
            workers.problem = "worker 0 does not answer"
        }
        #expect(messages == ["WATCHDOG=1", "STATUS=worker 0 does not answer"])
    }

    @Test func aProblemIsDescribedUntilItIsOver() {
        workers.problem = "worker 0 does not answer"
        let messages = messages(limit: nil, for: .seconds(10)) {
            loop.timer(after: .seconds(5)) { [workers] in workers.problem = nil }
        }
        #expect(messages == ["STATUS=worker 0 does not answer", "STATUS=serving"])
    }
}
