#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A value that several threads share, behind a mutex.
///
/// The mutex is the system's: ThreadSanitizer does not see through the standard library's `Mutex`,
/// and would report each of its uses as a race.
///
/// Unchecked, because the value is only reached with the mutex held.
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

    /// Calls `body` with the mutex held. Never hand it code of a user.
    package func withLock<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
