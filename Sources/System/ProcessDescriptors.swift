import CUV
import Glibc

/// The file descriptors of this process: their limit, and how many are open.
package enum ProcessDescriptors {
    /// Raises the soft limit to the hard limit, and returns the limit in force.
    ///
    /// The soft limit is often 1024 for the sake of programs that use `select`; this one does not.
    package static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return leastLimit
        }
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }

    /// The minimum that POSIX guarantees (_POSIX_OPEN_MAX).
    private static let leastLimit = 20

    /// The number of open descriptors; nil where the system does not report it.
    package static var open: Int? {
        guard let stream = opendir("/dev/fd") else { return nil }
        defer { closedir(stream) }
        var entries = 0
        while readdir(stream) != nil { entries += 1 }
        // Without `.`, `..` and the descriptor of the directory.
        return max(0, entries - 3)
    }
}
