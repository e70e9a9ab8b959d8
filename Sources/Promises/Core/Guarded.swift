#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A value behind a mutex, for several threads.
///
/// The mutex is the system's, because ThreadSanitizer does not understand the standard library's
/// `Mutex` and reports each of its uses as a race.
///
/// Unchecked `Sendable`, because the value is accessed only with the mutex held.
@safe
package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    package init(_ value: consuming sending Value) {
        self.value = value
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "no mutex: the system is out of memory")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the mutex held. `body` must not call user code.
    package func withLock<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
