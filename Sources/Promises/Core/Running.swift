#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Which node's turn it is on a thread: how a chain that is begun inside a handler knows where it
/// belongs.
///
/// Each loop of turns puts one cell on its stack and writes there whose turn it is.
@safe
struct Running {
    private nonisolated(unsafe) let cell: UnsafeMutablePointer<Unmanaged<NodeObject>?>

    private static let place = ThreadLocal()

    /// The context of the handler that runs on this thread, if one does.
    static var context: (any ExecutionContext)? {
        guard let cell = unsafe place.pointer else { return nil }
        let running = unsafe cell.assumingMemoryBound(to: Unmanaged<NodeObject>?.self).pointee
        return unsafe running?._withUnsafeGuaranteedRef { Node($0).placement.context }
    }

    /// Lets `body` take turns. Nests: a handler may drive a context of its own.
    static func loop(_ body: (Running) -> Void) {
        var running: Unmanaged<NodeObject>?
        unsafe withUnsafeMutablePointer(to: &running) { cell in
            let outer = unsafe place.pointer
            unsafe place.pointer = UnsafeMutableRawPointer(cell)
            body(unsafe Running(cell: cell))
            unsafe place.pointer = unsafe outer
        }
    }

    /// Gives an owned node its turn. It outlives the turn, so that code that runs when values are
    /// destroyed can read the context.
    func runHandlers(of owned: NodeRef) {
        unsafe cell.pointee = owned.raw
        // Looked at, not taken: the reference of the queue is one that need not be counted again.
        owned.with { $0.run() }
        unsafe cell.pointee = nil
        owned.release()
    }
}

/// One pointer for every thread.
@safe
struct ThreadLocal: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key, nil)
        precondition(code == 0, "the process has no thread-local place left")
        self.key = key
    }

    /// What this thread keeps here.
    var pointer: UnsafeMutableRawPointer? {
        get { unsafe pthread_getspecific(key) }
        nonmutating set { unsafe pthread_setspecific(key, newValue) }
    }
}

extension Placement {
    /// Where a chain begins that was given no context: where its maker runs, else on the pool.
    @usableFromInline
    static func beginning(on context: (any ExecutionContext)?) -> Placement {
        .context(context ?? Running.context ?? SharedPool.shared)
    }

    /// This place, or the pool if its handlers do not run one at a time, as what keeps state
    /// between turns needs them.
    @usableFromInline
    var serial: Placement {
        if case .context(let context) = self, !context.isSerial {
            return .context(SharedPool.shared)
        }
        return self
    }
}
