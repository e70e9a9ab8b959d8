public import Synchronization

/// The core of every promise: one object that is promise, waiter, job and storage at once.
///
/// Not generic, so that it costs no metadata to make or free. Its owner is the producer (a
/// resolver) or the parent's waiter stack; a child holds its parent until its turn has come. A
/// confined node is touched by its core's thread only; any other node by any thread, under the
/// rules of `Claim`: *the caller that set `decided` writes the outcome; closure and parent belong
/// to the runner once it set `started`, before that to the caller that decides.*
///
/// The only unchecked `Sendable` of the module: the two words determine which thread may access
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

/// The memory of a node: the header, the words of state and claim, then the value or the error,
/// all in one allocation.
@usableFromInline
final class NodeObject: ManagedBuffer<NodeHeader, UInt> {
    deinit { if Node(self).leavesSomething { Node(self).tearDown() } }
}

/// What a node has besides its two words and its value.
@usableFromInline @safe
struct NodeHeader {
    // These two come first: they are moved out by address (see `stepPlace`).
    @usableFromInline var step: NodeStep?
    /// The caller's closure, which the step takes.
    @usableFromInline var handler: AnyHandler?
    /// Nil only while the node is being made.
    @usableFromInline var placement: Placement?
    /// Counted by hand, so that taking it costs nothing.
    @usableFromInline var parent: NodeRef?
    /// The link of the list that the node is in: a waiter stack, an inbox or a turn.
    @usableFromInline var next: NodeRef?
    /// The combinator's result whose input slot this is.
    @usableFromInline var result: Node?
    /// What the tail holds, if that must be destroyed.
    @usableFromInline var held: Any.Type?

    // Sixteen words with the rest of a node that holds one word: the largest block that the C
    // library keeps at hand when many are freed at once. Two words more made a link cost 10 % more.

    @inlinable
    init() {}
}

/// What a node does when its turn has come. A struct, so that generic code moves it as it is and
/// does not wrap the closure.
@usableFromInline
struct NodeStep {
    @usableFromInline let take: (Node) -> Void

    @inlinable @inline(__always)
    init(_ take: @escaping (Node) -> Void) { self.take = take }

    /// Calls it and consumes it: its context is not retained for the call.
    @inline(__always)
    consuming func callAsFunction(_ node: Node) { take(node) }
}

/// Where a node's handlers run.
@usableFromInline @safe
enum Placement {
    /// Confined: its thread is the only one that ever touches the node. With the core's ready
    /// queue, which it keeps alive.
    case local(LocalContext, Unmanaged<ReadyQueue>?)
    case context(any ExecutionContext)

    /// Whether a holder of a node with this placement is always on its thread.
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
    /// A node with room for a `Value` (or an error), and for `extraWords` behind it.
    @inlinable
    static func make<Value>(
        _ type: Value.Type, placement: consuming Placement, parent: Node? = nil, claim: UInt = 0,
        extraWords: Int = 0, step: ((Node) -> Void)? = nil
    ) -> Node {
        let node = bare(Value.self, claim: claim, extraWords: extraWords)
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

    /// A node at the same place as this one, which is its parent.
    @inlinable
    func child<Value>(_ type: Value.Type, step: @escaping (Node) -> Void) -> Node {
        let child = Node.bare(Value.self, claim: 0, extraWords: 0)
        unsafe child.header.pointee.placement = unsafe header.pointee.placement
        child.setParent(self)
        child.setStep(step)
        if hasCreationSite { PromiseDiagnostics.recordCreationSite(of: child, asChildOf: self) }
        return child
    }

    @inlinable
    static func bare<Value>(_ type: Value.Type, claim: UInt, extraWords: Int) -> Node {
        let made = NodeObject.create(minimumCapacity: 2 + words(Value.self) + extraWords) { _ in
            NodeHeader()
        }
        let node = unsafe Node(unsafeDowncast(made, to: NodeObject.self))
        unsafe node.cells.initialize(to: Atomic(0))
        unsafe (node.cells + 1).initialize(to: Atomic(claim))
        return node
    }

    /// A node that a resolver will settle, and its creation for diagnostics.
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
        make(Value.self, placement: placement, claim: Claim.root)
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

    /// Where the value or the error is.
    @inlinable @inline(__always)
    var slot: UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(object.withUnsafeMutablePointerToElements { unsafe $0 + 2 })
    }

    @inlinable @inline(__always)
    var isConfined: Bool {
        if case .local? = unsafe header.pointee.placement { return true }
        return false
    }

    /// The ready queue of the core that this node is confined to, if it has one.
    @inlinable @inline(__always)
    var readyQueue: Unmanaged<ReadyQueue>? {
        if case .local(_, let readyQueue)? = unsafe header.pointee.placement {
            return unsafe readyQueue
        }
        return nil
    }

    @inlinable @inline(__always)
    var state: Word { unsafe Word(cells, isConfined: isConfined) }

    @inlinable @inline(__always)
    var claim: Word { unsafe Word(cells + 1, isConfined: isConfined) }

    @inlinable @inline(__always)
    var placement: Placement {
        // Never nil once the node is made; no promise is lost for the sake of a trap.
        unsafe header.pointee.placement ?? .context(SharedPool.shared)
    }

    /// Where its turn is taken.
    @inlinable @inline(__always)
    var context: any ExecutionContext {
        switch unsafe header.pointee.placement {
        case .context(let context): context
        case .local(let local, _): local.context
        case nil: SharedPool.shared
        }
    }

    /// Must be nil when it is set.
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

    @inlinable @inline(__always)
    var result: Node? {
        get { unsafe header.pointee.result }
        nonmutating set { unsafe header.pointee.result = newValue }
    }

    @inlinable @inline(__always)
    func takeParent() -> Node? { takeParentRef()?.take() }

    @inlinable @inline(__always)
    func takeParentRef() -> NodeRef? {
        let taken = unsafe header.pointee.parent
        unsafe header.pointee.parent = nil
        return taken
    }

    /// Where the step is; behind it is the handler.
    ///
    /// Not `&header.pointee.step`: ThreadSanitizer takes that for an access to the whole header,
    /// whose other fields may be read by others.
    @inlinable @inline(__always)
    var stepPlace: UnsafeMutablePointer<NodeStep?> {
        unsafe UnsafeMutableRawPointer(header).assumingMemoryBound(to: NodeStep?.self)
    }

    @inlinable @inline(__always)
    func takeStep() -> NodeStep? {
        let place = unsafe stepPlace
        let taken = unsafe place.move()
        unsafe place.initialize(to: nil)
        return taken
    }

    /// Whether no other reference holds this node.
    @inlinable @inline(__always)
    mutating func isUnique() -> Bool { isKnownUniquelyReferenced(&object) }

    // MARK: State.

    @inlinable var isPending: Bool { state.bits & State.settled == 0 }
    @inlinable var isFulfilled: Bool { state.bits & State.fulfilled != 0 }
    @inlinable var isRejected: Bool { state.bits & State.rejected != 0 }
    @inlinable var isDecided: Bool { claim.bits & Claim.decided != 0 }
    @inlinable var hasCreationSite: Bool { claim.bits & Claim.hasCreationSite != 0 }

    // MARK: Teardown.

    /// Whether `tearDown` has anything to do. Nearly always not; and a call would count the dying
    /// object twice.
    @inline(__always)
    fileprivate var leavesSomething: Bool {
        let bits = state.bits
        if bits & (State.rejected | ~State.tags) != 0 || hasCreationSite { return true }
        return unsafe header.pointee.held != nil || header.pointee.parent != nil
    }

    fileprivate func tearDown() {
        let bits = state.bits
        if bits & State.rejected != 0, !Claim.isHandled(claim.bits) { reportUnhandled() }
        clear()
        if bits & ~State.tags != 0 { releaseWithdrawnNodes(bits) }
        if unsafe header.pointee.parent != nil { releaseAncestors() }
        if hasCreationSite { PromiseDiagnostics.forget(ObjectIdentifier(object)) }
    }

    /// Frees a line of ancestors that no other reference holds, one after the other and not nested.
    func releaseAncestors() {
        var above = takeParent()
        while var node = above.take(), node.isUnique() {
            above = node.takeParent()
        }
    }

    /// Frees what withdrawn consumers left on the stack of a node that was never settled.
    func releaseWithdrawnNodes(_ bits: UInt) {
        var withdrawn = NodeRef(stack: bits)
        while let one = withdrawn {
            withdrawn = one.next
            one.release()
        }
    }
}
