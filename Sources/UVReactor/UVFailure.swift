import CUV
import Reactor

extension IOFailure {
    /// The failure for one of libuv's negative codes. The only place that uses libuv's numbers.
    init(uv code: some BinaryInteger) {
        let code = Int32(truncatingIfNeeded: code)
        self =
            switch uv_errno_t(rawValue: code) {
            case UV_ECONNREFUSED: .connectionRefused
            case UV_ECONNRESET, UV_ECONNABORTED: .connectionReset
            case UV_EPIPE, UV_ENOTCONN: .brokenPipe
            case UV_ETIMEDOUT: .timedOut
            case UV_EHOSTUNREACH, UV_ENETUNREACH, UV_ENETDOWN, UV_EHOSTDOWN: .unreachable
            case UV_EADDRINUSE: .addressInUse
            case UV_EADDRNOTAVAIL, UV_EINVAL, UV_ENOENT, UV_ENAMETOOLONG,
                UV_EAFNOSUPPORT:
                .addressInvalid
            case UV_EACCES, UV_EPERM: .permissionDenied
            case UV_EAI_NONAME, UV_EAI_NODATA: .hostNotFound
            case UV_EAI_AGAIN: .nameServiceFailed
            case UV_EMFILE, UV_ENFILE: .outOfDescriptors
            case UV_ENOMEM, UV_ENOBUFS, UV_EAI_MEMORY: .outOfMemory
            case UV_ECANCELED: .cancelled
            default: .other(code)
            }
    }
}

/// Checks the result of a libuv call, which is a count or a negative code.
@discardableResult
func checked(_ result: CInt) throws(IOFailure) -> CInt {
    guard result >= 0 else { throw IOFailure(uv: result) }
    return result
}
