import Basics
import Foundation
import Promises
import Reactor
import SimReactor
import Testing
import UVReactor

/// One test of an inbox on one of the loops: the inbox, its loop, and other threads that post.
final class InboxHarness {
    /// The sender, and the number of its message.
    struct Message: Sendable, Equatable {
        let sender: Int
        let number: Int

        init(_ sender: Int, _ number: Int) {
            self.sender = sender
            self.number = number
        }
    }

    typealias Inbox = any MessageInbox<Message>

    let loop: any Loop
    let inbox: Inbox
    let open: (any MessageReceiver<Message>) -> Void
    let close: () -> Void
    /// Runs the closure on another thread.
    let onOtherThread: (@escaping @Sendable (Inbox) -> Void) -> Void
    /// Ends the test.
    let finish: () -> Void

    fileprivate init(
        loop: any Loop, inbox: Inbox, open: @escaping (any MessageReceiver<Message>) -> Void,
        close: @escaping () -> Void,
        onOtherThread: @escaping (@escaping @Sendable (Inbox) -> Void) -> Void,
        finish: @escaping () -> Void
    ) {
        self.loop = loop
        self.inbox = inbox
        self.open = open
        self.close = close
        self.onOtherThread = onOtherThread
        self.finish = finish
    }
}

/// Records received messages.
final class InboxReader: MessageReceiver {
    private(set) var received: [InboxHarness.Message] = []
    private let onMessage: (InboxReader, InboxHarness.Message) -> Void

    init(_ onMessage: @escaping (InboxReader, InboxHarness.Message) -> Void = { _, _ in }) {
        self.onMessage = onMessage
    }

    func receive(_ message: InboxHarness.Message) {
        received.append(message)
        onMessage(self, message)
    }

    /// The numbers of one sender, in the order of arrival.
    func numbers(of sender: Int) -> [Int] {
        received.filter { $0.sender == sender }.map(\.number)
    }
}

/// Runs a test on one of the loops until it calls `finish`; the loop ends then.
///
/// - Parameters:
///   - before: runs before the loop exists
///   - after: runs after the loop's end
func withInbox(
    _ conformer: Conformer, _ location: SourceLocation = #_sourceLocation,
    before: (InboxHarness.Inbox) -> Void = { _ in },
    _ body: (InboxHarness) -> Void, after: (InboxHarness.Inbox) -> Void = { _ in }
) throws {
    switch conformer {
    case .libuv, .secureLibuv: try onRealInbox(location, before, body, after)
    case .simulated, .secureSimulated: onSimulatedInbox(location, before, body, after)
    }
}

private func onRealInbox(
    _ location: SourceLocation, _ before: (InboxHarness.Inbox) -> Void,
    _ body: (InboxHarness) -> Void, _ after: (InboxHarness.Inbox) -> Void
) throws {
    let inbox = UVInbox<InboxHarness.Message>()
    before(inbox)
    let threads = DispatchGroup()
    let left = try UVLoop.run { loop in
        let watchdog = loop.timer(after: .seconds(20)) {
            Issue.record("the test did not finish", sourceLocation: location)
            loop.stop()
        }
        body(
            InboxHarness(
                loop: loop, inbox: inbox, open: { inbox.open(on: loop, for: $0) },
                close: { inbox.close() },
                onOtherThread: { work in
                    threads.enter()
                    Thread {
                        work(inbox)
                        threads.leave()
                    }.start()
                },
                finish: {
                    watchdog.cancel()
                    loop.stop()
                }))
    }
    #expect(left == [], sourceLocation: location)
    #expect(threads.wait(timeout: .now() + 20) == .success, sourceLocation: location)
    after(inbox)
}

private func onSimulatedInbox(
    _ location: SourceLocation, _ before: (InboxHarness.Inbox) -> Void,
    _ body: (InboxHarness) -> Void, _ after: (InboxHarness.Inbox) -> Void
) {
    let network = SimNetwork(seed: 1)
    network.settings.messageLatency = .zero ... .milliseconds(3)
    let inbox = SimInbox<InboxHarness.Message>(on: network)
    before(inbox)
    var others: [SimLoop] = []
    var isFinished = false
    do {
        let loop = network.makeLoop("test")
        body(
            InboxHarness(
                loop: loop, inbox: inbox, open: { inbox.open(on: loop, for: $0) },
                close: { inbox.close() },
                onOtherThread: { work in
                    let other = network.makeLoop("other \(others.count)")
                    others.append(other)
                    other.timer(after: .zero) { work(inbox) }
                },
                finish: { isFinished = true }))
        #expect(network.run(until: { isFinished }), "did not finish", sourceLocation: location)
        loop.close()
        #expect(network.runUntilQuiet(), sourceLocation: location)
        #expect(loop.leftovers == [], sourceLocation: location)
    }
    after(inbox)
}
