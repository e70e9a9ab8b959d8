public import Synchronization

/// The implementation of every promise: one object that is promise, waiter, job and storage at
/// once.
///
/// Not generic, so that it costs no metadata to make or free. Its owner is the producer (a
/// resolver) or the parent's waiter stack; a child holds its parent until its turn has come. A
/// confined node is accessed by the thread of its `LocalContext` only; any other node by any
/// thread, under the rules of `ControlBits`: *the thread that set `decided` writes the outcome;
/// closure and parent belong to the thread that set `started`, and before that to the thread that
/// decides.*
///
/// Unchecked `Sendable`: the state word and the control word determine which thread may access
/// what.
@usableFromInline
struct Node: @unchecked Sendable {
    @usableFromInline var object: NodeObject

    @inlinable @inline(__always)
    init(_ object: NodeObject) {
        self.object = object
    }

    @inlinable @inline(__always)
    static func === (left: Node, right: Node) -> Bool { left.object === right.object }
}

/// The memory of a node: the header, the state word and the control word, then the value or the
/// error, all in one allocation.
@usableFromInline
final class NodeObject: ManagedBuffer<NodeHeader, UInt> {
    // No variable for the node: it would be retained and released.
    deinit {
        if Node(self).needsTearDown { Node(self).tearDown() }
        Node(self).clear()
    }
}

/// The fields of a node, except its two words and its value.
@usableFromInline @safe
struct NodeHeader {
    // These two come first: they are moved out by address (see `stepPointer`).
    @usableFromInline var step: NodeStep?
    /// The caller's closure, which the step uses.
    @usableFromInline var handler: AnyHandler?
    /// Nil only while the node is being made.
    @usableFromInline var placement: Placement?
    /// Counted by hand, so that taking it costs nothing.
    @usableFromInline var parent: NodeRef?
    /// The next node of the list that this node is in: a waiter stack, an inbox or a ready queue.
    @usableFromInline var next: NodeRef?
    /// The combinator's result whose input slot this is. Counted by hand, like the parent.
    @usableFromInline var result: NodeRef?
    /// The type of the stored value, if the value must be destroyed.
    @usableFromInline var storedType: Any.Type?

    // With this header a node that stores one word takes sixteen words: the largest block that the
    // C library caches when many are freed at once. Two words more made a link cost 10 % more.

    @inlinable
    init() {}
}

/// The closure that a node runs in its turn. A struct, so that generic code moves the closure and
/// does not wrap it.
@usableFromInline
struct NodeStep {
    @usableFromInline let take: (Node) -> Void

    @inlinable @inline(__always)
    init(_ take: @escaping (Node) -> Void) { self.take = take }

    /// Calls and consumes the step: its context is not retained for the call.
    @inline(__always)
    consuming func callAsFunction(_ node: Node) { take(node) }
}

/// Where a node's handlers run.
@usableFromInline @safe
enum Placement {
    /// Confined: only one thread ever accesses the node. With the ready queue of the local context,
    /// which keeps it alive.
    case local(LocalContext, Unmanaged<ReadyQueue>?)
    case context(any ExecutionContext)

    /// Whether nodes with this placement are accessed on one thread only.
    @inlinable
    var isConfined: Bool {
        if case .local = self { true } else { false }
    }

    @inlinable
    var context: any ExecutionContext {
        switch self {
        case .local(let local, _): local.context
        case .context(let context): context
        }
    }
}

extension Node {
    /// A node with storage for a `Value` (or an error), and for `extraWords` behind it.
    @inlinable
    static func make<Value>(
        _ type: Value.Type, placement: consuming Placement, parent: Node? = nil, control: UInt = 0,
        extraWords: Int = 0, step: ((Node) -> Void)? = nil
    ) -> Node {
        let node = makeBare(Value.self, control: control, extraWords: extraWords)
        unsafe node.header.pointee.placement = placement
        if let parent {
            node.setParent(parent)
            if parent.hasCreationSite {
                PromiseDiagnostics.recordCreationSite(of: node, asChildOf: parent)
            }
        }
        if let step { node.setStep(step) }
        return node
    }

    /// A child of this node with the same placement.
    @inlinable
    func child<Value>(_ type: Value.Type, step: @escaping (Node) -> Void) -> Node {
        let child = Node.makeBare(Value.self, control: 0, extraWords: 0)
        unsafe child.header.pointee.placement = unsafe header.pointee.placement
        child.setParent(self)
        child.setStep(step)
        if hasCreationSite { PromiseDiagnostics.recordCreationSite(of: child, asChildOf: self) }
        return child
    }

    @inlinable
    static func makeBare<Value>(_ type: Value.Type, control: UInt, extraWords: Int) -> Node {
        let object = NodeObject.create(minimumCapacity: 2 + words(Value.self) + extraWords) { _ in
            NodeHeader()
        }
        let node = unsafe Node(unsafeDowncast(object, to: NodeObject.self))
        unsafe node.cells.initialize(to: Atomic(0))
        unsafe (node.cells + 1).initialize(to: Atomic(control))
        return node
    }

    /// A node that a resolver will settle; records its creation site for diagnostics.
    @inlinable
    static func root<Value>(
        _ type: Value.Type, placement: consuming Placement, _ file: StaticString, _ line: UInt
    ) -> Node {
        let node = root(Value.self, placement: placement)
        PromiseDiagnostics.recordCreation(of: node, file, line)
        return node
    }

    /// A node that a resolver will settle.
    @inlinable
    static func root<Value>(_ type: Value.Type, placement: consuming Placement) -> Node {
        make(Value.self, placement: placement, control: ControlBits.root)
    }

    // MARK: Fields. No exclusivity checks: the words determine which thread may access what.

    @inlinable @inline(__always)
    var header: UnsafeMutablePointer<NodeHeader> {
        unsafe object.withUnsafeMutablePointerToHeader { unsafe $0 }
    }

    @inlinable @inline(__always)
    var cells: UnsafeMutablePointer<Atomic<UInt>> {
        unsafe UnsafeMutableRawPointer(object.withUnsafeMutablePointerToElements { unsafe $0 })
            .assumingMemoryBound(to: Atomic<UInt>.self)
    }

    /// The storage of the value or the error.
    @inlinable @inline(__always)
    var valueSlot: UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(object.withUnsafeMutablePointerToElements { unsafe $0 + 2 })
    }

    @inlinable @inline(__always)
    var isConfined: Bool {
        if case .local? = unsafe header.pointee.placement { return true }
        return false
    }

    /// The ready queue of the local context that this node is confined to, if there is one.
    @inlinable @inline(__always)
    var readyQueue: Unmanaged<ReadyQueue>? {
        if case .local(_, let readyQueue)? = unsafe header.pointee.placement {
            return unsafe readyQueue
        }
        return nil
    }

    @inlinable @inline(__always)
    var state: NodeWord { unsafe NodeWord(cells, isConfined: isConfined) }

    @inlinable @inline(__always)
    var control: NodeWord { unsafe NodeWord(cells + 1, isConfined: isConfined) }

    @inlinable @inline(__always)
    var placement: Placement {
        // Never nil once the node is made; a default instead of a trap, so that no promise is lost.
        unsafe header.pointee.placement ?? .context(SharedPool.shared)
    }

    /// The context on which the node runs its step.
    @inlinable @inline(__always)
    var context: any ExecutionContext {
        switch unsafe header.pointee.placement {
        case .context(let context): context
        case .local(let local, _): local.context
        case nil: SharedPool.shared
        }
    }

    /// The parent must be nil before the call.
    @inlinable @inline(__always)
    func setParent(_ parent: Node) { unsafe header.pointee.parent = NodeRef(retaining: parent) }

    @inlinable @inline(__always)
    func setStep(_ step: @escaping (Node) -> Void) {
        unsafe header.pointee.step = NodeStep(step)
    }

    @inlinable @inline(__always)
    func dropStep() { unsafe header.pointee.step = nil }

    @inlinable @inline(__always)
    var next: NodeRef? {
        get { unsafe header.pointee.next }
        nonmutating set { unsafe header.pointee.next = newValue }
    }

    /// The combinator's result whose input slot this is.
    @inlinable @inline(__always)
    var result: Node? {
        unsafe header.pointee.result?.with { $0 }
    }

    /// There must be no result before the call.
    @inlinable @inline(__always)
    func setResult(_ result: Node) { unsafe header.pointee.result = NodeRef(retaining: result) }

    @inlinable @inline(__always)
    func takeResult() -> Node? { unsafe header.pointee.result.take()?.take() }

    @inlinable @inline(__always)
    func dropResult() { unsafe header.pointee.result.take()?.release() }

    @inlinable @inline(__always)
    func takeParent() -> Node? { takeParentRef()?.take() }

    @inlinable @inline(__always)
    func takeParentRef() -> NodeRef? {
        let taken = unsafe header.pointee.parent
        unsafe header.pointee.parent = nil
        return taken
    }

    /// The address of the step; the handler is behind it.
    ///
    /// Not `&header.pointee.step`: ThreadSanitizer treats that as an access to the whole header,
    /// whose other fields other threads may read.
    @inlinable @inline(__always)
    var stepPointer: UnsafeMutablePointer<NodeStep?> {
        unsafe UnsafeMutableRawPointer(header).assumingMemoryBound(to: NodeStep?.self)
    }

    @inlinable @inline(__always)
    func takeStep() -> NodeStep? {
        let place = unsafe stepPointer
        let taken = unsafe place.move()
        unsafe place.initialize(to: nil)
        return taken
    }

    /// Whether this is the only reference to the node.
    @inlinable @inline(__always)
    mutating func isUnique() -> Bool { isKnownUniquelyReferenced(&object) }

    // MARK: State.

    @inlinable var isPending: Bool { state.bits & StateBits.settled == 0 }
    @inlinable var isFulfilled: Bool { state.bits & StateBits.fulfilled != 0 }
    @inlinable var isRejected: Bool { state.bits & StateBits.rejected != 0 }
    @inlinable var isDecided: Bool { control.bits & ControlBits.decided != 0 }
    @inlinable var hasCreationSite: Bool { control.bits & ControlBits.hasCreationSite != 0 }

    // MARK: Teardown.

    /// Whether `tearDown` has more to do than to destroy a value: nearly always false, and a call
    /// would retain and release the object.
    @inline(__always)
    fileprivate var needsTearDown: Bool {
        let bits = state.bits
        if bits & (StateBits.rejected | ~StateBits.tags) != 0 || hasCreationSite { return true }
        return unsafe header.pointee.parent != nil || header.pointee.result != nil
    }

    fileprivate func tearDown() {
        let bits = state.bits
        if bits & StateBits.rejected != 0, !ControlBits.isHandled(control.bits) {
            reportUnhandled()
        }
        clear()
        if bits & ~StateBits.tags != 0 { releaseWithdrawnNodes(bits) }
        if unsafe header.pointee.parent != nil { releaseAncestors() }
        dropResult()
        if hasCreationSite { PromiseDiagnostics.forget(ObjectIdentifier(object)) }
    }

    /// Frees the ancestors that have no other reference, one after the other and not nested.
    func releaseAncestors() {
        var parent = takeParent()
        while var node = parent.take(), node.isUnique() {
            parent = node.takeParent()
        }
    }

    /// Frees the withdrawn nodes on the stack of a node that was never settled.
    func releaseWithdrawnNodes(_ bits: UInt) {
        var withdrawn = NodeRef(stack: bits)
        while let one = withdrawn {
            withdrawn = one.next
            one.release()
        }
    }
}
