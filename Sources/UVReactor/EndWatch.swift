import CUV
import Reactor

/// Watches paused streams for the end of their peers' data and for resets, which libuv does not
/// report for a stream that is not read.
///
/// An epoll set of its own, which one handle polls: a stream is in it only while it is watched. The
/// kernel removes a stream that is closed, so that the pointers in the set belong to open handles.
final class EndWatch {
    private let descriptor: CInt
    private var handle: Handle<uv_poll_t>?

    /// Reported streams in one callback, so that many do not starve the others.
    private static let reportsPerCallbackMax = 64

    private init(_ descriptor: CInt, _ handle: consuming Handle<uv_poll_t>) {
        self.descriptor = descriptor
        self.handle = consume handle
    }

    /// Nil on systems without such a set.
    static func open(on loop: UVLoop) throws(IOFailure) -> EndWatch? {
        let code = tributary_end_watch()
        if code == UV_ENOTSUP.rawValue { return nil }
        let descriptor = try checked(code)
        do throws(IOFailure) {
            let handle = try Handle { poll in tributary_uv_poll_init(loop.raw, poll, descriptor) }
            try checked(
                tributary_uv_poll_start(handle.raw, CInt(UV_READABLE.rawValue)) { poll, _, _ in
                    UVLoop.of(poll?.pointee.loop)?.reportEnds()
                })
            return EndWatch(descriptor, handle)
        } catch {
            _ = tributary_close(descriptor)
            throw error
        }
    }

    deinit {
        handle = nil  // before its descriptor
        _ = tributary_close(descriptor)
    }

    /// Changes what is reported of a stream, once. What cannot be watched is found when it is read.
    ///
    /// - Returns: what is watched now
    func watch(
        _ stream: UnsafeMutablePointer<uv_stream_t>, _ former: tributary_watched,
        _ wanted: tributary_watched
    ) -> tributary_watched {
        guard former != wanted else { return former }
        return tributary_watch_end(descriptor, stream, former, wanted) < 0
            ? TRIBUTARY_WATCHED_NOTHING : wanted
    }

    /// One event at a time: a report may close other streams.
    func report() {
        for _ in 0..<Self.reportsPerCallbackMax {
            var isLost: CInt = 0
            guard let raw = tributary_next_end(descriptor, &isLost) else { return }
            HandleOwner.owner(of: raw, as: UVStream.self)?.peerEnded(
                isLost != 0 ? .lost : .finished)
        }
    }
}
