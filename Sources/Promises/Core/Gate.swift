#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Where threads wait until it opens, once and for ever.
///
/// Unchecked, because the flag is only reached with the mutex held.
@safe
final class Gate: @unchecked Sendable {
    private var isOpen = false
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let opened = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        let codes = unsafe (pthread_mutex_init(mutex, nil), pthread_cond_init(opened, nil))
        precondition(codes == (0, 0), "no mutex: the system is out of memory")
    }

    deinit {
        unsafe pthread_cond_destroy(opened)
        unsafe pthread_mutex_destroy(mutex)
        unsafe opened.deallocate()
        unsafe mutex.deallocate()
    }

    func open() {
        unsafe pthread_mutex_lock(mutex)
        isOpen = true
        unsafe pthread_cond_broadcast(opened)
        unsafe pthread_mutex_unlock(mutex)
    }

    func wait() {
        unsafe pthread_mutex_lock(mutex)
        while !isOpen { unsafe pthread_cond_wait(opened, mutex) }
        unsafe pthread_mutex_unlock(mutex)
    }
}
