#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Runs the handlers of nodes on one thread, and records the current node, so that a chain that
/// begins inside a handler gets the handler's context.
///
/// Each loop has one cell on its stack that holds the current node; a thread-local pointer leads to
/// the cell of the innermost loop.
@safe
struct HandlerLoop {
    private nonisolated(unsafe) let cell: UnsafeMutablePointer<Unmanaged<NodeObject>?>

    private static let current = ThreadLocal()

    /// The context of the handler that runs on this thread, if there is one.
    static var currentContext: (any ExecutionContext)? {
        guard let cell = unsafe current.pointer else { return nil }
        let node = unsafe cell.assumingMemoryBound(to: Unmanaged<NodeObject>?.self).pointee
        return unsafe node?._withUnsafeGuaranteedRef { Node($0).placement.context }
    }

    /// Calls `body` with a loop for its nodes. Calls may nest: a handler may drain another context.
    static func enter(_ body: (HandlerLoop) -> Void) {
        var node: Unmanaged<NodeObject>?
        unsafe withUnsafeMutablePointer(to: &node) { cell in
            let outer = unsafe current.pointer
            unsafe current.pointer = UnsafeMutableRawPointer(cell)
            body(unsafe HandlerLoop(cell: cell))
            unsafe current.pointer = unsafe outer
        }
    }

    /// Runs the step of an owned node. The node is released after its step, so that deinitialisers
    /// of values can read the context.
    func runHandlers(of owned: NodeRef) {
        unsafe cell.pointee = owned.raw
        // Borrowed from the queue's reference, so that the node is not retained again.
        owned.with { $0.runStep() }
        unsafe cell.pointee = nil
        owned.release()
    }
}

/// One thread-local pointer.
@safe
struct ThreadLocal: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key, nil)
        precondition(code == 0, "the process has no thread-local key left")
        self.key = key
    }

    /// The pointer of the calling thread.
    var pointer: UnsafeMutableRawPointer? {
        get { unsafe pthread_getspecific(key) }
        nonmutating set { unsafe pthread_setspecific(key, newValue) }
    }
}

extension Placement {
    /// The placement of a new chain: `context`, or else the current context, or else `SharedPool`.
    @usableFromInline
    static func forNewChain(on context: (any ExecutionContext)?) -> Placement {
        .context(context ?? HandlerLoop.currentContext ?? SharedPool.shared)
    }

    /// This placement, or `SharedPool` if its context is not serial: operators that keep state
    /// between turns need handlers that run one at a time.
    @usableFromInline
    var serial: Placement {
        if case .context(let context) = self, !context.isSerial {
            return .context(SharedPool.shared)
        }
        return self
    }
}
