package import Basics
import CUV
package import Promises
package import Reactor
import System

/// A libuv loop, confined to its thread: created, run and closed by `UVLoop.run`.
package final class UVLoop: Loop {
    let raw: UnsafeMutablePointer<uv_loop_t>
    package let local: LocalContext
    package let entropy: Entropy
    package let descriptors = LoopDescriptors()
    package let iterations = LoopIterations()
    package let memory = LoopMemory()

    /// The execution context of promises that other threads may settle.
    package let context: UVContext

    /// The inboxes of this loop; closed at its end.
    var inboxes: [any AnnouncedInbox] = []

    private let readyQueue: ReadyQueue
    private var clock: Instant?
    private var handles: LoopHandles?

    /// Streams are released outside of any access.
    var bufferedStreams = BufferedStreams()

    /// One buffer for all streams: libuv calls back before the next read begins.
    private let readMemory: UnsafeMutableRawBufferPointer

    /// 64 KiB: most of a socket's receive buffer, in one system call.
    private static let readBufferBytes = 64 * 1024

    /// Promise jobs run in one drain, before the loop polls its sockets.
    private static let jobsPerDrainMax = 1024

    /// Loop iterations in which the remaining promise handlers may complete.
    private static let closingIterationsMax = 10_000

    /// Creates a loop on this thread, calls `start` with it, runs it until `stop`, and closes it.
    ///
    /// - Parameter names: the names of the process, which its loops share
    /// - Returns: what was still open at the end and closed by force, one line each
    package static func run(
        names: NameService = NameService(), _ start: (UVLoop) throws -> Void
    ) throws -> [String] {
        let loop = try UVLoop(names)
        do {
            try start(loop)
        } catch {
            _ = loop.close()
            throw error
        }
        loop.finishCallback()
        uv_run(loop.raw, UV_RUN_DEFAULT)
        return loop.close()
    }

    private init(_ names: NameService) throws(IOFailure) {
        try checked(tributary_block_broken_pipe())
        let readyQueue = ReadyQueue()
        let context = UVContext(readyQueue: readyQueue)
        let raw = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let code = tributary_uv_loop_init(raw)
        guard code >= 0 else {
            raw.deallocate()
            throw IOFailure(uv: code)
        }
        self.raw = raw
        readMemory = .allocate(byteCount: UVLoop.readBufferBytes, alignment: 64)
        self.readyQueue = readyQueue
        self.context = context
        local = LocalContext(on: context, readyQueue: readyQueue)
        entropy = Entropy(seed: SystemRandom.word())
        raw.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        do throws(IOFailure) {
            handles = try LoopHandles(on: self, names)
            if let wakeUp = handles?.wakeUp.raw { context.open(self, wakeUp: wakeUp) }
        } catch {
            _ = close()
            throw error
        }
    }

    deinit { readMemory.deallocate() }

    /// Ends `run` after the present callback and those that are due with it.
    package func stop() { uv_stop(raw) }

    // MARK: Clock

    package var now: Instant {
        if let clock { return clock }
        return readClock()
    }

    package var exactNow: Instant { Instant(nanoseconds: Int64(clamping: uv_hrtime())) }

    /// Reads the clock. The value is then constant until the loop waits again.
    @discardableResult
    func readClock() -> Instant {
        let now = exactNow
        if clock == nil { iterations.begin(at: now) }
        clock = now
        return now
    }

    /// Called before the loop waits.
    fileprivate func endIteration() {
        flushStreams()
        clock = nil
        iterations.end(at: exactNow)
    }

    package var unixTime: Int64 { tributary_unix_time() }

    // MARK: Loop

    @discardableResult
    package func timer(after delay: Duration, _ action: @escaping () -> Void) -> Timer {
        let due = now + max(delay, .zero)
        return handles?.timers.add(due: due, action) ?? TimerQueue().add(due: due, action)
    }

    /// Schedules a promise job, `delay` from this moment; nil if the loop has ended. Not from `now`:
    /// a handler may have run for long since then, and the timer would fire too early.
    func schedule(_ job: consuming PromiseJob, after delay: Duration) -> Timer? {
        guard let timers = handles?.timers else { return nil }
        return timers.add(due: delay > .zero ? exactNow + delay : now, job)
    }

    package func connect(to address: SocketAddress) -> LocalPromise<any ByteStream> {
        isClosing ? local.error(IOFailure.cancelled) : UVConnect.connect(to: address, on: self)
    }

    package func listen(
        on address: SocketAddress, sharedPort: Bool, accept: @escaping (any ByteStream) -> Void
    ) throws(IOFailure) -> any Listener {
        try listen(on: .bound(to: address, sharedPort: sharedPort), accept: accept)
    }

    /// Listens on a socket that was bound elsewhere, such as a duplicate from another thread.
    package func listen(
        on socket: consuming ListeningSocket, accept: @escaping (any ByteStream) -> Void
    ) throws(IOFailure) -> any Listener {
        if isClosing { throw .cancelled }
        return try UVListener(socket, on: self, accept: accept)
    }

    package var names: NameResolver? { handles?.names }

    /// Nil where the system has none, and while the loop closes.
    var endWatch: EndWatch? { handles?.endWatch }

    /// Reports the ends of paused streams.
    func reportEnds() {
        endWatch?.report()
        finishCallback()
    }

    // MARK: Callbacks

    /// Begins every callback of libuv whose work is measured. The first one after a wait reads the
    /// clock: `UV_METRICS_IDLE_TIME` would make libuv poll twice before each wait.
    @inline(__always)
    func beginCallback() {
        if clock == nil { readClock() }
    }

    /// Ends every callback of libuv: promise handlers run before the next one.
    @inline(__always)
    func finishCallback() {
        if !readyQueue.isEmpty { drain() }
        if bufferedStreams.isFull { flushStreams() }
    }

    /// Sends buffered writes, and those that `streamBlocked` handlers add meanwhile.
    fileprivate func flushStreams() {
        while bufferedStreams.count > 0 {
            var index = 0
            while index < bufferedStreams.count {
                bufferedStreams[index].flushAtEndOfIteration()
                if !readyQueue.isEmpty { drain() }
                index += 1
            }
            var written = bufferedStreams.takeAll()
            written.removeAll(keepingCapacity: true)
            bufferedStreams.reuse(written)
        }
    }

    private func drain() {
        guard readyQueue.drain(atMost: UVLoop.jobsPerDrainMax),
            let idleHandle = handles?.idleHandle.raw
        else {
            return
        }
        _ = runDrainInNextIteration(idleHandle)
    }

    /// Drains the rest in the next iteration: an active idle handle keeps the loop from waiting.
    ///
    /// - Returns: false if libuv fails
    private func runDrainInNextIteration(_ idleHandle: UnsafeMutablePointer<uv_idle_t>) -> Bool {
        let code = tributary_uv_idle_start(idleHandle) { idleHandle in
            UVLoop.of(idleHandle?.pointee.loop)?.drainRest()
        }
        // Draining everything now is better than jobs that never run.
        if code < 0 { while readyQueue.drain(atMost: UVLoop.jobsPerDrainMax) {} }
        return code >= 0
    }

    /// Arms the timer in the next iteration, after the sockets were polled; false if libuv fails.
    func armTimersSoon() -> Bool {
        guard let idleHandle = handles?.idleHandle.raw else { return true }
        return runDrainInNextIteration(idleHandle)
    }

    private func drainRest() {
        beginCallback()
        let hasMore = readyQueue.drain(atMost: UVLoop.jobsPerDrainMax)
        if !hasMore, let idleHandle = handles?.idleHandle.raw {
            tributary_uv_idle_stop(idleHandle)
        }
        // Each time, since a chain of jobs may have no end; and last, because it starts the idle handle
        // again if libuv fails.
        handles?.timers.arm()
    }

    static func of(_ raw: UnsafeMutablePointer<uv_loop_t>?) -> UVLoop? {
        raw?.pointee.data.map { Unmanaged<UVLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Calls `body` with a loop, which it does not retain: while libuv calls back, `run` holds the loop.
    @inline(__always)
    fileprivate static func withBorrowed(
        _ raw: UnsafeMutablePointer<uv_loop_t>?, _ body: (UVLoop) -> Void
    ) {
        guard let data = raw?.pointee.data else { return }
        Unmanaged<UVLoop>.fromOpaque(data)._withUnsafeGuaranteedRef(body)
    }

    var readBuffer: uv_buf_t {
        uv_buf_t(
            base: readMemory.baseAddress?.assumingMemoryBound(to: CChar.self), len: readMemory.count
        )
    }

    // MARK: Closing

    /// Whether no new work may start.
    var isClosing: Bool { handles == nil }

    /// Closes everything, runs libuv's remaining callbacks, and frees the loop.
    private func close() -> [String] {
        context.deliver()
        context.refuseOtherThreads()
        for inbox in inboxes { inbox.close() }
        handles?.timers.queue.removeAll()
        let names = handles?.names
        handles = nil
        names?.close()
        flushStreams()
        let leftovers = abandonOwners()
        flushStreams()  // no stream may stay in the list
        runRemainingCallbacks()
        context.close()
        let code = tributary_uv_loop_close(raw)
        guard code == 0 else {
            // The loop is still in use, so its memory must stay.
            return leftovers + ["uv_loop_close: \(IOFailure(uv: code))"]
        }
        raw.deallocate()
        return leftovers
    }

    /// Runs the close callbacks and the remaining promise handlers. Work that handlers start now
    /// fails at once, so they end; an endless chain is abandoned after some iterations.
    private func runRemainingCallbacks() {
        for _ in 0..<UVLoop.closingIterationsMax {
            uv_run(raw, UV_RUN_NOWAIT)
            if readyQueue.drain(atMost: UVLoop.jobsPerDrainMax) { continue }
            if uv_loop_alive(raw) == 0 { return }
        }
    }

    /// Closes handles that are still owned, and returns the types of their owners.
    private func abandonOwners() -> [String] {
        var found: [HandleOwner] = []
        withUnsafeMutablePointer(to: &found) { list in
            uv_walk(
                raw,
                { handle, list in
                    guard let owner = HandleOwner.owner(of: handle, as: HandleOwner.self) else {
                        return
                    }
                    list?.assumingMemoryBound(to: [HandleOwner].self).pointee.append(owner)
                }, list)
        }
        for owner in found { owner.abandon() }
        return found.map { String(describing: type(of: $0)) }
    }
}

/// The handles of every loop. Releasing them closes them.
private struct LoopHandles: ~Copyable {
    let timers: UVTimer
    let names: NameResolver
    let wakeUp: Handle<uv_async_t>
    let idleHandle: Handle<uv_idle_t>
    let endWatch: EndWatch?
    private let beforeWaiting: Handle<uv_prepare_t>

    init(on loop: UVLoop, _ service: NameService) throws(IOFailure) {
        let raw = loop.raw
        let timers = try UVTimer(on: loop)
        let wakeUp = try Handle<uv_async_t> { wakeUp in
            tributary_uv_async_init(raw, wakeUp) { UVLoop.of($0?.pointee.loop)?.context.deliver() }
        }
        let idleHandle = try Handle { idleHandle in tributary_uv_idle_init(raw, idleHandle) }
        let beforeWaiting = try Handle { prepare in tributary_uv_prepare_init(raw, prepare) }
        try checked(
            tributary_uv_prepare_start(beforeWaiting.raw) {
                UVLoop.withBorrowed($0?.pointee.loop) { $0.endIteration() }
            })
        endWatch = try EndWatch.open(on: loop)
        self.timers = timers
        self.wakeUp = consume wakeUp
        self.idleHandle = consume idleHandle
        self.beforeWaiting = consume beforeWaiting
        let inbox = UVInbox<NameResult>()
        names = NameResolver(on: loop, service: service, inbox: inbox)
        inbox.open(on: loop, for: names)
    }
}
