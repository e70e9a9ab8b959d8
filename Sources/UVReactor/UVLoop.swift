package import Basics
import CUV
package import Promises
package import Reactor

/// A libuv loop, confined to the thread that runs it: made, run and closed by `UVLoop.run`.
package final class UVLoop: Loop {
    let raw: UnsafeMutablePointer<uv_loop_t>
    package let local: LocalContext
    package let entropy: Entropy
    package let descriptors = LoopDescriptors()

    /// The execution context of promises that other threads may settle.
    package let context: UVContext

    /// Those that deliver on this loop; closed at its end.
    var inboxes: [any AnnouncedInbox] = []

    private let readyQueue: ReadyQueue
    private var clock: Instant?
    private var own: OwnHandles?

    /// Unchecked, since no access calls anybody: streams are let go of outside.
    @exclusivity(unchecked) var gathering = Gathering()

    /// One for all streams: libuv reads and calls back before the next read begins.
    private let readMemory: UnsafeMutableRawBufferPointer

    /// 64 KiB: most of what a socket's receive buffer holds, in one system call.
    private static let readBufferBytes = 64 * 1024

    /// Promise jobs run in one drain, before the sockets get their chance.
    private static let jobsPerDrainMax = 1024

    /// Passes in which the promise handlers that are left may come to an end.
    private static let closingPassesMax = 10_000

    /// Makes a loop on this thread, lets `start` fill it, runs it until `stop`, and closes it.
    ///
    /// - Parameter names: the names of the process, which its loops share
    /// - Returns: what was still open at the end, one line each. It was closed by force.
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
        entropy = Entropy(seed: UVLoop.seed())
        raw.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        do throws(IOFailure) {
            own = try OwnHandles(on: self, names)
            if let wakeUp = own?.wakeUp.raw { context.open(self, wakeUp: wakeUp) }
        } catch {
            _ = close()
            throw error
        }
    }

    deinit { readMemory.deallocate() }

    /// Ends `run` after the present callback and those that are ready with it.
    package func stop() { uv_stop(raw) }

    private static func seed() -> UInt64 {
        var seed: UInt64 = 0
        let code = withUnsafeMutableBytes(of: &seed) { bytes in
            tributary_uv_random(bytes.baseAddress, bytes.count)
        }
        // The clock and the process are a poor seed, but ids and jitter are no secrets.
        return code == 0 ? seed : uv_hrtime() ^ UInt64(uv_os_getpid()) << 32
    }

    // MARK: Clock

    package var now: Instant {
        if let clock { return clock }
        return readClock()
    }

    /// Reads the clock anew. It then stands still until the loop waits again.
    @discardableResult
    func readClock() -> Instant {
        let now = Instant(nanoseconds: Int64(clamping: uv_hrtime()))
        clock = now
        return now
    }

    /// Before the loop waits.
    fileprivate func passEnds() {
        sendGathered()
        clock = nil
    }

    package var unixTime: Int64 { tributary_unix_time() }

    // MARK: Loop

    @discardableResult
    package func timer(after delay: Duration, _ action: @escaping () -> Void) -> Timer {
        let due = now + max(delay, .zero)
        return own?.timers.add(due: due, action) ?? TimerQueue().add(due: due, action)
    }

    /// Gives a promise that waits its turn, `delay` from now; nil if the loop has ended.
    func schedule(_ job: consuming PromiseJob, after delay: Duration) -> Timer? {
        guard let timers = own?.timers else { return nil }
        return timers.add(due: now + max(delay, .zero), job)
    }

    package func connect(to address: SocketAddress) -> LocalPromise<any ByteStream> {
        isClosing ? local.error(IOFailure.cancelled) : UVConnect.begin(to: address, on: self)
    }

    package func listen(
        on address: SocketAddress, sharedPort: Bool, accept: @escaping (any ByteStream) -> Void
    ) throws(IOFailure) -> any Listener {
        try listen(on: .bound(to: address, sharedPort: sharedPort), accept: accept)
    }

    /// Listens on a socket that was bound elsewhere, such as one thread's duplicate of another's.
    package func listen(
        on socket: consuming ListeningSocket, accept: @escaping (any ByteStream) -> Void
    ) throws(IOFailure) -> any Listener {
        if isClosing { throw .cancelled }
        return try UVListener(socket, on: self, accept: accept)
    }

    package var names: NameResolver? { own?.names }

    // MARK: Callbacks

    /// At the end of every callback from libuv: the promise handlers run before the next one.
    @inline(__always)
    func finishCallback() {
        if !readyQueue.isEmpty { drain() }
        if gathering.isFull { sendGathered() }
    }

    /// Writes what was gathered, and what is written on hearing that it has to wait.
    fileprivate func sendGathered() {
        while gathering.count > 0 {
            var index = 0
            while index < gathering.count {
                gathering[index].passEnds()
                if !readyQueue.isEmpty { drain() }
                index += 1
            }
            var written = gathering.takeAll()
            written.removeAll(keepingCapacity: true)
            gathering.reuse(written)
        }
    }

    private func drain() {
        guard readyQueue.drain(atMost: UVLoop.jobsPerDrainMax), let drainer = own?.drainer.raw
        else {
            return
        }
        keepAwake(drainer)
    }

    /// The rest at the next pass: an active idle handle keeps the loop from waiting.
    private func keepAwake(_ drainer: UnsafeMutablePointer<uv_idle_t>) {
        let code = tributary_uv_idle_start(drainer) { drainer in
            UVLoop.of(drainer?.pointee.loop)?.drainRest()
        }
        // Rather no pause for the sockets than jobs that never run.
        if code < 0 { while readyQueue.drain(atMost: UVLoop.jobsPerDrainMax) {} }
    }

    /// libuv would not arm the timer: once more at the next pass.
    func armTimersSoon() {
        if let drainer = own?.drainer.raw { keepAwake(drainer) }
    }

    private func drainRest() {
        guard !readyQueue.drain(atMost: UVLoop.jobsPerDrainMax) else { return }
        own?.timers.arm()
        if let drainer = own?.drainer.raw { tributary_uv_idle_stop(drainer) }
    }

    static func of(_ raw: UnsafeMutablePointer<uv_loop_t>?) -> UVLoop? {
        raw?.pointee.data.map { Unmanaged<UVLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    var readBuffer: uv_buf_t {
        uv_buf_t(
            base: readMemory.baseAddress?.assumingMemoryBound(to: CChar.self), len: readMemory.count
        )
    }

    // MARK: Closing

    /// From here on nothing new is begun.
    var isClosing: Bool { own == nil }

    /// Closes everything, runs what libuv still has to call back, and frees the loop.
    private func close() -> [String] {
        context.deliver()
        context.refuse()
        for inbox in inboxes { inbox.close() }
        own?.timers.queue.removeAll()
        let names = own?.names
        own = nil
        names?.close()
        sendGathered()
        let left = abandonOwners()
        sendGathered()  // nothing is left to write to, and nothing may be held
        runOut()
        context.close()
        let code = tributary_uv_loop_close(raw)
        guard code == 0 else {
            // The loop is still in use: its memory must stay.
            return left + ["uv_loop_close: \(IOFailure(uv: code))"]
        }
        raw.deallocate()
        return left
    }

    /// Runs the close callbacks and the promise handlers that are left. What handlers begin now
    /// fails at once, so they end; an endless chain is left behind after a while.
    private func runOut() {
        for _ in 0..<UVLoop.closingPassesMax {
            uv_run(raw, UV_RUN_NOWAIT)
            if readyQueue.drain(atMost: UVLoop.jobsPerDrainMax) { continue }
            if uv_loop_alive(raw) == 0 { return }
        }
    }

    /// Takes the handles away from those who still hold them, and tells which they were.
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

/// The handles that every loop has. Dropping them closes them.
private struct OwnHandles: ~Copyable {
    let timers: UVTimer
    let names: NameResolver
    let wakeUp: Handle<uv_async_t>
    let drainer: Handle<uv_idle_t>
    private let beforeWaiting: Handle<uv_prepare_t>

    init(on loop: UVLoop, _ service: NameService) throws(IOFailure) {
        let raw = loop.raw
        let timers = try UVTimer(on: loop)
        let wakeUp = try Handle<uv_async_t> { wakeUp in
            tributary_uv_async_init(raw, wakeUp) { UVLoop.of($0?.pointee.loop)?.context.deliver() }
        }
        let drainer = try Handle { drainer in tributary_uv_idle_init(raw, drainer) }
        let beforeWaiting = try Handle { prepare in tributary_uv_prepare_init(raw, prepare) }
        try checked(
            tributary_uv_prepare_start(beforeWaiting.raw) {
                UVLoop.of($0?.pointee.loop)?.passEnds()
            })
        self.timers = timers
        self.wakeUp = consume wakeUp
        self.drainer = consume drainer
        self.beforeWaiting = consume beforeWaiting
        let inbox = UVInbox<NameResult>()
        names = NameResolver(on: loop, service: service, inbox: inbox)
        inbox.open(on: loop, for: names)
    }
}
