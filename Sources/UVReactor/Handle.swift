import CUV
import Reactor

/// One open libuv handle: whoever holds this owns it, and dropping it closes it.
///
/// libuv's law: a handle's memory is ours again only inside its close callback. Swift's law: a
/// stored property may move. So the C struct lives on the heap, and `deinit` hands it to `uv_close`,
/// whose callback frees it; no Swift object has to survive for that. Confined to its loop's thread.
struct Handle<Raw>: ~Copyable {
    let raw: UnsafeMutablePointer<Raw>

    /// Allocates the struct and lets `start` initialise it.
    init(_ start: (UnsafeMutablePointer<Raw>) -> CInt) throws(IOFailure) {
        let memory = UnsafeMutablePointer<Raw>.allocate(capacity: 1)
        let code = start(memory)
        guard code >= 0 else {
            memory.deallocate()  // libuv never knew it: there is nothing to close
            throw IOFailure(uv: code)
        }
        raw = memory
        base.pointee.data = nil
    }

    private init(adopting raw: UnsafeMutablePointer<Raw>) {
        self.raw = raw
    }

    deinit {
        base.pointee.data = nil  // no callback may find its owner any more
        uv_close(base) { $0?.deallocate() }  // captures nothing, so it is a C function
    }

    /// The handle as what it derives from in libuv's sense: a `uv_tcp_t` is a `uv_stream_t`.
    consuming func upcast<Parent>(to _: Parent.Type) -> Handle<Parent> {
        let parent = raw.cast(to: Parent.self)
        discard self
        return Handle<Parent>(adopting: parent)
    }

    /// Makes `owner` known to the callbacks. It is not retained: an owner outlives its handle,
    /// because the handle closes when the owner goes away.
    func setOwner(_ owner: HandleOwner) {
        base.pointee.data = Unmanaged.passUnretained(owner).toOpaque()
    }

    private var base: UnsafeMutablePointer<uv_handle_t> { raw.cast(to: uv_handle_t.self) }
}

extension UnsafeMutablePointer {
    /// The same struct seen as what it derives from by libuv's convention (every handle begins as a
    /// `uv_handle_t`, a `uv_tcp_t` as a `uv_stream_t`), or the other way round where it is known.
    func cast<Other>(to _: Other.Type) -> UnsafeMutablePointer<Other> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Other.self)
    }
}

/// An object that a handle's callbacks call: it holds the handle and is found through its `data`.
package class HandleOwner {
    init() {}

    /// Closes the handle while this object is still in use, because the loop closes; users of the object
    /// are notified.
    func abandon() {}

    /// The owner that a callback's handle belongs to; nil when it closes already.
    ///
    /// The caller's reference is a strong one, since what the callback calls may drop the last other.
    @inline(__always)
    static func owner<Owner: HandleOwner, Raw>(
        of handle: UnsafeMutablePointer<Raw>?, as _: Owner.Type
    ) -> Owner? {
        guard let data = handle?.cast(to: uv_handle_t.self).pointee.data else { return nil }
        let owner = Unmanaged<HandleOwner>.fromOpaque(data).takeUnretainedValue()
        return unsafeDowncast(owner, to: Owner.self)
    }
}
