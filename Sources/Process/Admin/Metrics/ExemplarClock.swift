import Basics

/// Converts moments of the loops' clock to wall-clock time.
///
/// Prometheus drops an exemplar that is older than the one it knows, and takes a different time for
/// another exemplar. So the distance of the two clocks is measured once, and again only after the wall
/// clock was set: an exemplar has the same time on every page.
struct ExemplarClock {
    /// Wall-clock time at the zero of the loops' clock, in nanoseconds since 1970.
    private var origin: Int64

    /// A difference beyond this is a wall clock that was set, and not the time between two readings.
    private static let toleranceMax = UInt64(1_000_000_000)

    init(now: Instant, unixTime: Int64) {
        origin = unixTime &- now.nanoseconds
    }

    /// Compares the clocks anew.
    mutating func adjust(now: Instant, unixTime: Int64) {
        let measured = unixTime &- now.nanoseconds
        if (measured &- origin).magnitude > Self.toleranceMax { origin = measured }
    }

    /// In nanoseconds since 1970.
    func unixTime(at moment: Instant) -> Int64 { origin &+ moment.nanoseconds }
}
