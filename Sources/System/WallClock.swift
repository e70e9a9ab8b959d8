import CUV

/// The time of day, for threads that have no loop.
package enum WallClock {
    /// Nanoseconds since 1970-01-01 00:00 UTC; never for durations.
    package static var unixTime: Int64 { tributary_unix_time() }
}
