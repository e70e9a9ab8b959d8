import Foundation
import Reactor
import Synchronization
import Testing
import UVReactor

/// Runs a loop on this thread until `stop`; ends and fails a hanging test.
func onLoop(
    _ location: SourceLocation = #_sourceLocation, _ body: (UVLoop) throws -> Void
) throws {
    let left = try UVLoop.run { loop in
        _ = loop.timer(after: .seconds(20)) {
            Issue.record("the test did not finish", sourceLocation: location)
            loop.stop()
        }
        try body(loop)
    }
    #expect(left == [], sourceLocation: location)
}

/// Descriptors of this process.
func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

/// A thread that can be joined.
final class TestThread: Sendable {
    private let thread: Mutex<pthread_t?>

    init(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        #expect(code == 0)
        self.thread = Mutex(code == 0 ? thread : nil)
    }

    func join() {
        if let thread = thread.withLock({ $0.take() }) { pthread_join(thread, nil) }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

extension SocketAddress {
    /// A port of the system's choice.
    static let loopback = SocketAddress.ip(.v4(0x7F00_0001), port: 0)

    /// A socket file for one test.
    static func temporary(_ name: String) -> SocketAddress { temporaryFile(name).address }

    /// A socket file for one test, and its path.
    static func temporaryFile(_ name: String) -> (address: SocketAddress, path: String) {
        let path = "/tmp/tributary-\(getpid())-\(name).sock"
        return (.unix(path: path), path)
    }
}

/// Runs actions of other threads on a loop: `loop.actions().post { $0.stop() }`.
final class LoopActions: MessageReceiver {
    typealias Action = @Sendable (UVLoop) -> Void
    private unowned let loop: UVLoop

    init(on loop: UVLoop) { self.loop = loop }

    func receive(_ message: @escaping Action) { message(loop) }
}

extension UVLoop {
    /// An inbox for actions, open until the loop's end.
    func actions() -> UVInbox<LoopActions.Action> {
        let inbox = UVInbox<LoopActions.Action>()
        inbox.open(on: self, for: LoopActions(on: self))
        return inbox
    }
}
