#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A value behind a mutex, with a condition variable to wait for a change of the value.
///
/// Unchecked `Sendable`, because the value is accessed only with the mutex held.
@safe
final class Monitor<Value: ~Copyable>: @unchecked Sendable {
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init(_ value: consuming sending Value) {
        self.value = value
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        #if !canImport(Darwin)
            unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
        let codes = unsafe (
            pthread_mutex_init(mutex, nil), pthread_cond_init(changed, &attributes)
        )
        unsafe pthread_condattr_destroy(&attributes)
        precondition(codes == (0, 0), "no mutex: the system is out of memory")
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the mutex held. `body` must not call user code.
    func withLock<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Calls `body` with the mutex held until it returns a result, and waits for `signal` or
    /// `broadcast` between the calls.
    ///
    /// Every call is a separate access to the value, which ends before the wait: other threads
    /// change the value meanwhile.
    ///
    /// - Parameters:
    ///   - limit: limit of all waits together, from the first one on; nil for no limit.
    ///   - body: must not call user code. `isLast` is true once the limit has passed.
    /// - Returns: the result, or nil if the last call returned none.
    func wait<Result>(
        atMost limit: Duration?, for body: (inout Value, _ isLast: Bool) -> Result?
    ) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        var deadline: timespec?
        while true {
            if let result = body(&value, false) { return result }
            guard let limit else {
                unsafe pthread_cond_wait(changed, mutex)
                continue
            }
            let end = deadline ?? Monitor.deadline(after: limit)
            deadline = end
            if !wait(until: end) { return body(&value, true) }
        }
    }

    /// Wakes one waiting thread.
    func signal() { unsafe pthread_cond_signal(changed) }

    /// Wakes all waiting threads.
    func broadcast() { unsafe pthread_cond_broadcast(changed) }

    /// False when the deadline has passed.
    private func wait(until deadline: timespec) -> Bool {
        var moment = deadline
        #if canImport(Darwin)
            return unsafe pthread_cond_timedwait_relative_np(changed, mutex, &moment) != ETIMEDOUT
        #else
            return unsafe pthread_cond_timedwait(changed, mutex, &moment) != ETIMEDOUT
        #endif
    }

    /// A time of the monotonic clock; on Darwin, which waits for a relative time, the duration
    /// itself.
    private static func deadline(after limit: Duration) -> timespec {
        var moment = timespec()
        #if !canImport(Darwin)
            unsafe clock_gettime(CLOCK_MONOTONIC, &moment)
        #endif
        // A year is longer than any wait, and cannot overflow.
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
