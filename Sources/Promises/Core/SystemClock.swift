#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The clock of contexts that have no time of their own.
enum SystemClock {
    /// Time since the start of the system, which never goes back.
    static var reading: Duration {
        var moment = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &moment)
        return .seconds(moment.tv_sec) + .nanoseconds(moment.tv_nsec)
    }
}
