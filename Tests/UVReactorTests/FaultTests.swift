import CUV
import Foundation
import Promises
import Reactor
import Testing

@testable import UVReactor

/// Each call of libuv's and of the system's that can fail is made to fail once, at every place from
/// which it is called: the fault walks through one long story, a call further each time.
///
/// In processes of their own, so that the descriptors can be counted.
@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    /// A failure is told as what it is, or got over where nobody needs to know; everything that was
    /// begun ends, and nothing stays open.
    @Test func everyCallFailsOnce() async {
        await #expect(processExitsWith: .success) {
            _ = Story.told(failing: 0)  // what the process opens once for all
            // How often the kernel is asked differs from one telling to the next, so a walk may step
            // over a call that is made once.
            let known = try allCalls()
            var hit = try callsHitByAWalk()
            for _ in 1...4 where hit != known { hit.formUnion(try callsHitByAWalk()) }
            let wrong = hit.symmetricDifference(known)
            #expect(wrong == [], "not reached, or not known: \(wrong.sorted())")
        }
    }
}

/// Tells the story again and again, a call further each time, until there is none further.
private func callsHitByAWalk() throws -> Set<String> {
    var hit: Set<String> = []
    for number in 1... {
        let before = try openDescriptors()
        let end = Story.told(failing: number)
        guard let call = end.failed else { break }
        hit.insert(call)
        let place = "call \(number), \(call)"
        #expect(end.untold.isEmpty, "\(place): never ended: \(end.untold)")
        if call == "uv_loop_close" {
            // The memory of the loop and its descriptors have to stay, and that is told.
            #expect(end.left == ["uv_loop_close: out of memory"])
            continue
        }
        #expect(end.left == [], "\(place): left open: \(end.left)")
        #expect(try openDescriptors() == before, "\(place): a descriptor is left")
        #expect(!end.isLoopHeld, "\(place): the loop is still held")
        if tolerated.contains(call) { continue }
        #expect(!end.failures.isEmpty, "\(place): nobody was told")
    }
    return hit
}

/// Calls whose failure nobody need be told of, because it is got over.
private let tolerated: Set<String> = [
    "uv_random",  // the clock seeds
    "uv_timer_start", "uv_idle_start", "uv_idle_stop", "uv_poll_stop",  // tried in the next pass
    "uv_poll_start", "accept4",  // tried again after a moment, where it is not the first try
    "uv_tcp_getpeername",  // a stream without a known peer
    "lstat", "unlink",  // a socket file that stays behind is replaced by whoever comes next
]

/// The names in the C header.
private func allCalls() throws -> Set<String> {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/CUV")
    var names: Set<String> = []
    for file in ["calls.h", "shim.h"] {
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        let call = /TRIBUTARY_(?:CALL|SYSTEM|FAIL)\(\s*([a-z_0-9]+)[,)]/
        for match in text.matches(of: call) { names.insert(String(match.1)) }
    }
    // The macros' own parameter, and what only other systems than Linux call.
    return names.subtracting(["name", "accept"])
}

/// Everything that a loop can do, once.
private final class Story {
    struct End {
        /// The call that failed; nil if there were not that many.
        let failed: String?
        /// What failed of what was begun, with a reason.
        let failures: [IOFailure]
        /// What was begun and never ended.
        let untold: [String]
        let left: [String]
        let isLoopHeld: Bool
    }

    static let failure = IOFailure.outOfMemory

    private var begun: [String: Bool] = [:]
    private var failures: [IOFailure] = []
    private var loop: UVLoop?
    private var ends: [Peer] = []
    private var listeners: [any Listener] = []
    private var signals: SignalSource?
    private let inbox = UVInbox<String>()

    /// - Parameter number: the call that fails, counted from 1; 0 for none.
    static func told(failing number: Int) -> End {
        let story = Story()
        let faults = tributary_thread_faults()
        faults.pointee = tributary_faults(
            countdown: CInt(number), code: UV_ENOMEM.rawValue, failed: nil)
        var left: [String] = []
        weak var held: UVLoop?
        do {
            left = try UVLoop.run { loop in
                held = loop
                story.loop = loop
                story.begin(loop)
            }
        } catch {
            story.note(error)
        }
        faults.pointee.countdown = 0
        let failed = faults.pointee.failed.map { String(cString: $0) }
        return End(
            failed: failed, failures: story.failures,
            untold: story.begun.filter { !$0.value }.keys.sorted(), left: left,
            isLoopHeld: held != nil)
    }

    private func note(_ error: any Error) {
        if let failure = error as? IOFailure { failures.append(failure) }
    }

    // MARK: What is begun ends

    private func begin(_ name: String) { begun[name] = false }

    private func end(_ name: String, _ result: Result<Void, any Error> = .success(())) {
        begun[name] = true
        if case .failure(let error) = result { note(error) }
        guard begun.values.allSatisfy({ $0 }) else { return }
        signals?.close()
        for listener in listeners { listener.close() }
        for end in ends { end.stream.close() }
        (ends, listeners, signals) = ([], [], nil)
        loop.take()?.stop()
    }

    private func attempt(_ name: String, _ body: () throws -> Void) {
        end(name, Result(catching: body))
    }

    // MARK: The story

    private func begin(_ loop: UVLoop) {
        for name in ["tcp", "pipe", "name", "jobs", "message", "signal", "socket"] {
            begin(name)
        }
        loop.timer(after: .seconds(5)) { [weak self] in self?.loop.take()?.stop() }
        attempt("socket") { try replaceStaleSocket() }
        attempt("signal") { signals = try SignalSource(.hangUp, on: loop) {} }
        connect("tcp", to: .loopback, loop)
        connect("pipe", to: .temporary("faults"), loop)
        // Before the look-up, whose thread may otherwise be the one that wakes the loop.
        inbox.open(on: loop, for: self)
        if !inbox.post("message") { end("message", .failure(Story.failure)) }
        loop.resolve("localhost").whenSettled { [self] in end("name", $0.map { _ in }) }
        chain(3000, loop)
    }

    /// More jobs than one drain runs.
    private func chain(_ length: Int, _ loop: UVLoop) {
        var promise = loop.local.value(0)
        for _ in 0..<length { promise = promise.map { $0 + 1 } }
        promise.whenSettled { [self] in end("jobs", $0.map { _ in }) }
    }

    private func replaceStaleSocket() throws {
        let (address, path) = SocketAddress.temporaryFile("stale-fault")
        // A socket file that nobody listens on: bound, and its file kept.
        unlink(path)
        let descriptor = try address.withSystemAddress { system, length in
            let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            bind(descriptor, system, length)
            return descriptor
        }
        close(descriptor)
        defer { unlink(path) }
        let access = SocketFileAccess(mode: 0o600, group: getgid())
        _ = try ListeningSocket.bound(to: address, access: access).duplicate()
    }

    /// A client sends more than the kernel takes at once, then ends; the server pauses, reads all
    /// of it, and ends too.
    private func connect(_ name: String, to address: SocketAddress, _ loop: UVLoop) {
        do {
            if case .unix(let path) = address { unlink(path) }
            let listener = try loop.listen(on: address, sharedPort: true) { [self] stream in
                _ = stream.peer
                let peer = Peer(stream)
                ends.append(peer)
                peer.onEnd = { [self] in end(name, $0) }
                stream.pauseReading()
                stream.startReading(for: peer)
                stream.resumeReading()
                stream.pauseReading()
                loop.timer(after: .milliseconds(2)) { stream.resumeReading() }
            }
            listeners.append(listener)
            listener.pause()
            listener.resume()
            loop.connect(to: listener.address).whenSettled { [self] result in
                switch result {
                case .failure(let error): end(name, .failure(error))
                case .success(let stream):
                    let peer = Peer(stream)
                    ends.append(peer)
                    peer.onEnd = { [self] in if case .failure = $0 { end(name, $0) } }
                    stream.startReading(for: peer)
                    stream.write([1, 2].span, [3, 4].span)
                    stream.write(Story.much.span)
                    stream.finishWriting()
                }
            }
        } catch {
            end(name, .failure(error))
        }
    }

    private static let much = [UInt8](repeating: 7, count: 2 << 20)
}

/// One end of a connection: reads until the other one ends, or something fails.
private final class Peer: ByteStreamDelegate {
    let stream: any ByteStream
    var onEnd: (Result<Void, any Error>) -> Void = { _ in }

    init(_ stream: any ByteStream) { self.stream = stream }

    func streamReceived(_ bytes: Span<UInt8>) {}
    func streamEnded() { onEnd(.success(())) }
    func streamBlocked() {}
    func streamDrained() {}
    func streamFailed(_ failure: IOFailure) { onEnd(.failure(failure)) }
}

extension Story: MessageReceiver {
    func receive(_ message: String) { end(message) }
}
