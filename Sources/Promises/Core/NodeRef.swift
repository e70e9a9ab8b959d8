/// One manually counted reference to a node, for waiter stacks and job lists.
///
/// Call exactly one of `take()` and `release()`.
@usableFromInline @safe
struct NodeRef: Sendable {
    @usableFromInline nonisolated(unsafe) let raw: Unmanaged<NodeObject>

    @inlinable
    init(retaining node: Node) {
        unsafe raw = Unmanaged.passRetained(node.object)
    }

    /// The newest waiter of a state word.
    @inlinable
    init?(stack bits: UInt) {
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits & ~StateBits.tags) else {
            return nil
        }
        unsafe raw = Unmanaged.fromOpaque(pointer)
    }

    /// The address, as a state word holds it.
    @inlinable
    var bits: UInt { unsafe UInt(bitPattern: raw.toOpaque()) }

    /// The node; ARC counts the reference from now on.
    @inlinable
    func take() -> Node { unsafe Node(raw.takeRetainedValue()) }

    /// Releases the reference.
    @inlinable
    func release() { unsafe raw.release() }

    /// Access to the node, without retaining it.
    @inlinable @inline(__always)
    func with<Result>(_ body: (Node) -> Result) -> Result {
        unsafe raw._withUnsafeGuaranteedRef { body(Node($0)) }
    }

    /// The next node of the list that this node is in.
    @inlinable
    var next: NodeRef? {
        get { with { $0.next } }
        nonmutating set { with { $0.next = newValue } }
    }

    /// The same list in the opposite order, and its last element.
    static func reversed(_ list: NodeRef?) -> (first: NodeRef?, last: NodeRef?) {
        var reversed: NodeRef?
        var rest = list
        while let one = rest {
            rest = one.next
            one.next = reversed
            reversed = one
        }
        return (reversed, list)
    }
}
