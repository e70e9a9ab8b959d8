#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The clock of contexts that define no other.
enum SystemClock {
    /// Time of the monotonic clock.
    static var reading: Duration {
        var moment = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &moment)
        return .seconds(moment.tv_sec) + .nanoseconds(moment.tv_nsec)
    }
}
