import CUV
import Reactor

/// A value that several threads share, behind a mutex.
///
/// The mutex is libuv's, that is the system's: ThreadSanitizer does not see through the standard
/// library's `Mutex`, and would report each of its uses as a race.
///
/// Unchecked, because the value is only reached with the mutex held.
final class Guarded<Value: ~Copyable>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<uv_mutex_t>

    init(_ value: consuming sending Value) throws(IOFailure) {
        let mutex = UnsafeMutablePointer<uv_mutex_t>.allocate(capacity: 1)
        let code = tributary_uv_mutex_init(mutex)
        guard code >= 0 else {
            mutex.deallocate()  // before all of `self` is there: no deinit will run
            throw IOFailure(uv: code)
        }
        self.mutex = mutex
        self.value = value
    }

    deinit {
        uv_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        uv_mutex_lock(mutex)
        defer { uv_mutex_unlock(mutex) }
        return body(&value)
    }
}
