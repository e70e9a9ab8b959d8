import CUV

/// The system's clock that never goes back, for messages to other processes.
package enum MonotonicClock {
    /// Microseconds of CLOCK_MONOTONIC, on Linux; never for durations inside of the process.
    package static var microseconds: UInt64 { uv_hrtime() / 1000 }
}
