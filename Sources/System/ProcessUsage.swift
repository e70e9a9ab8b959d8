import CUV

/// What this process uses of the machine.
package struct ProcessUsage: Sendable {
    /// Of all threads, in the program and in the system.
    package let cpuSeconds: Double
    package let residentBytes: Int

    /// Nil where the system does not report it.
    package static var now: ProcessUsage? {
        var usage = uv_rusage_t()
        var resident = 0
        guard tributary_uv_getrusage(&usage) == 0, tributary_uv_resident_set_memory(&resident) == 0
        else { return nil }
        return ProcessUsage(
            cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), residentBytes: resident)
    }

    private static func seconds(_ time: uv_timeval_t) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
    }
}
