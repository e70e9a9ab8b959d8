import CUV

/// One pending libuv request: a write, a connect or a shutdown.
///
/// A request must live until its callback, even if its stream is gone: closing a handle calls its
/// requests back with `UV_ECANCELED`, before the close callback. So a request owns itself from
/// `submit` until `finish`: one retain, one release, at exactly these two places.
final class UVRequest<Raw, Payload> {
    private let raw: UnsafeMutablePointer<Raw>
    private let payload: Payload

    private init(_ payload: Payload) {
        raw = .allocate(capacity: 1)
        self.payload = payload
    }

    deinit { raw.deallocate() }

    /// `call` passes the struct to libuv. If libuv refuses it, there is no callback and the request
    /// ends here; the result is libuv's code.
    static func submit(_ payload: Payload, _ call: (UnsafeMutablePointer<Raw>) -> CInt) -> CInt {
        let request = UVRequest(payload)
        let retained = Unmanaged.passRetained(request)
        request.raw.cast(to: uv_req_t.self).pointee.data = retained.toOpaque()
        let code = call(request.raw)
        if code < 0 { retained.release() }
        return code
    }

    /// Called in the callback: returns the payload and frees the struct.
    @discardableResult
    static func finish(_ raw: UnsafeMutablePointer<Raw>?) -> Payload? {
        guard let data = raw?.cast(to: uv_req_t.self).pointee.data else { return nil }
        return Unmanaged<UVRequest>.fromOpaque(data).takeRetainedValue().payload
    }
}
