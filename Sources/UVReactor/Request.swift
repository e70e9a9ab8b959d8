import CUV

/// One libuv request under way: a write, a connect, a shutdown or a look-up.
///
/// A request must survive until its callback, whatever became of the stream it was made for: closing
/// a handle calls its requests back with `UV_ECANCELED`, before the close callback. So a request owns
/// itself from `start` until `finish`: one retain, one release, at exactly these two places.
final class Request<Raw, Payload> {
    private let raw: UnsafeMutablePointer<Raw>
    private let payload: Payload

    private init(_ payload: Payload) {
        raw = .allocate(capacity: 1)
        self.payload = payload
    }

    deinit { raw.deallocate() }

    /// Begins: `call` hands the struct to libuv. Where libuv refuses, no callback will come, and the
    /// request ends here; the result is libuv's code.
    static func start(_ payload: Payload, _ call: (UnsafeMutablePointer<Raw>) -> CInt) -> CInt {
        let request = Request(payload)
        let retained = Unmanaged.passRetained(request)
        base(request.raw).pointee.data = retained.toOpaque()
        let code = call(request.raw)
        if code < 0 { retained.release() }
        return code
    }

    /// Ends, in the callback: gives the payload back and frees the struct.
    @discardableResult
    static func finish(_ raw: UnsafeMutablePointer<Raw>?) -> Payload? {
        guard let raw, let data = base(raw).pointee.data else { return nil }
        return Unmanaged<Request>.fromOpaque(data).takeRetainedValue().payload
    }

    private static func base(_ raw: UnsafeMutablePointer<Raw>) -> UnsafeMutablePointer<uv_req_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_req_t.self)
    }
}
