import CUV
import Reactor

/// Owns one open libuv handle; releasing it closes the handle.
///
/// libuv allows the memory of a handle to be freed only in its close callback, and Swift may move a
/// stored property. So the C struct is on the heap, and `deinit` passes it to `uv_close`, whose
/// callback frees it; no Swift object has to outlive the call. Confined to its loop's thread.
struct Handle<Raw>: ~Copyable {
    let raw: UnsafeMutablePointer<Raw>

    /// Allocates the struct and lets `start` initialise it.
    init(_ start: (UnsafeMutablePointer<Raw>) -> CInt) throws(IOFailure) {
        let memory = UnsafeMutablePointer<Raw>.allocate(capacity: 1)
        let code = start(memory)
        guard code >= 0 else {
            memory.deallocate()  // libuv did not initialise it, so there is nothing to close
            throw IOFailure(uv: code)
        }
        raw = memory
        base.pointee.data = nil
    }

    private init(adopting raw: UnsafeMutablePointer<Raw>) {
        self.raw = raw
    }

    deinit {
        base.pointee.data = nil  // callbacks must not find the owner any more
        uv_close(base) { $0?.deallocate() }  // captures nothing, so it is a C function
    }

    /// The handle as its base type in libuv's sense: a `uv_tcp_t` is a `uv_stream_t`.
    consuming func upcast<Parent>(to _: Parent.Type) -> Handle<Parent> {
        let parent = raw.cast(to: Parent.self)
        discard self
        return Handle<Parent>(adopting: parent)
    }

    /// Lets callbacks find `owner`. It is not retained: the owner holds the handle, so it outlives
    /// it.
    func setOwner(_ owner: HandleOwner) {
        base.pointee.data = Unmanaged.passUnretained(owner).toOpaque()
    }

    private var base: UnsafeMutablePointer<uv_handle_t> { raw.cast(to: uv_handle_t.self) }
}

extension UnsafeMutablePointer {
    /// The same struct as another type of libuv's hierarchy (every handle begins as a
    /// `uv_handle_t`, a `uv_tcp_t` also as a `uv_stream_t`).
    func cast<Other>(to _: Other.Type) -> UnsafeMutablePointer<Other> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Other.self)
    }
}

/// An object that the callbacks of its handle call, through the `data` field of the handle.
package class HandleOwner {
    init() {}

    /// Closes the handle because the loop closes, and notifies the users of this object.
    func abandon() {}

    /// The owner of a callback's handle; nil if the handle is closing.
    ///
    /// Returns a strong reference, since the callback may release the last other one.
    @inline(__always)
    static func owner<Owner: HandleOwner, Raw>(
        of handle: UnsafeMutablePointer<Raw>?, as _: Owner.Type
    ) -> Owner? {
        guard let data = handle?.cast(to: uv_handle_t.self).pointee.data else { return nil }
        let owner = Unmanaged<HandleOwner>.fromOpaque(data).takeUnretainedValue()
        return unsafeDowncast(owner, to: Owner.self)
    }

    /// Calls `body` with the owner of a callback's handle, which it does not retain: `body` must not
    /// call code that could release it.
    @inline(__always)
    static func withBorrowedOwner<Owner: HandleOwner, Raw>(
        of handle: UnsafeMutablePointer<Raw>?, as _: Owner.Type, _ body: (Owner) -> Void
    ) {
        guard let data = handle?.cast(to: uv_handle_t.self).pointee.data else { return }
        Unmanaged<HandleOwner>.fromOpaque(data)._withUnsafeGuaranteedRef { owner in
            body(unsafeDowncast(owner, to: Owner.self))
        }
    }
}
