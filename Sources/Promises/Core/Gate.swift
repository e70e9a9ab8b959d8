#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Where a thread waits until it opens, once and for ever.
///
/// With the thread's own clock: whoever blocks cannot rely on an executor to wake it.
///
/// Unchecked, because the flag is only reached with the mutex held.
@safe
package final class Gate: @unchecked Sendable {
    private var isOpen = false
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let opened = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        #if !canImport(Darwin)
            unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
        let codes = unsafe (
            pthread_mutex_init(mutex, nil), pthread_cond_init(opened, &attributes)
        )
        unsafe pthread_condattr_destroy(&attributes)
        precondition(codes == (0, 0), "no mutex: the system is out of memory")
    }

    deinit {
        unsafe pthread_cond_destroy(opened)
        unsafe pthread_mutex_destroy(mutex)
        unsafe opened.deallocate()
        unsafe mutex.deallocate()
    }

    package func open() {
        unsafe pthread_mutex_lock(mutex)
        isOpen = true
        unsafe pthread_cond_broadcast(opened)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Waits until it is open, or the limit has passed.
    package func wait(atMost limit: Duration?) {
        var deadline = limit.map(Gate.deadline)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !isOpen {
            if deadline == nil {
                unsafe pthread_cond_wait(opened, mutex)
            } else if wait(until: &deadline) == ETIMEDOUT {
                return
            }
        }
    }

    private func wait(until deadline: inout timespec?) -> CInt {
        guard var moment = deadline else { return ETIMEDOUT }
        #if canImport(Darwin)
            return unsafe pthread_cond_timedwait_relative_np(opened, mutex, &moment)
        #else
            return unsafe pthread_cond_timedwait(opened, mutex, &moment)
        #endif
    }

    /// A moment of the monotonic clock; on Darwin, which waits that way, the span itself.
    private static func deadline(after limit: Duration) -> timespec {
        var moment = timespec()
        #if !canImport(Darwin)
            unsafe clock_gettime(CLOCK_MONOTONIC, &moment)
        #endif
        // A year is as good as for ever, and cannot overflow.
        let span = min(max(limit, .zero), .seconds(31_536_000)).components
        moment.tv_sec += Int(span.seconds)
        moment.tv_nsec += Int(span.attoseconds / 1_000_000_000)
        if moment.tv_nsec >= 1_000_000_000 {
            moment.tv_sec += 1
            moment.tv_nsec -= 1_000_000_000
        }
        return moment
    }
}
