import System

/// The processors that this process may use: the processors of its affinity, and no more than the quota of its
/// control groups, of which newer versions of libuv know and older ones do not.
package enum ProcessorQuota {
    /// At least 1. A part of a processor counts as one, as in Go and Java.
    package static var available: Int {
        let quota = processors { path in
            (try? RegularFile.read(path, upTo: 64 << 10)).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        return min(Processors.available, quota ?? .max)
    }

    /// The least quota of the control groups of this process and of those above; nil without one.
    ///
    /// - Parameter read: the text of a file; nil if there is none. Read are `/proc/self/cgroup`
    ///   (cgroups(7)), and below `/sys/fs/cgroup` `cpu.max` (version 2), or `cpu.cfs_quota_us` and
    ///   `cpu.cfs_period_us` (version 1), in microseconds
    static func processors(_ read: (String) -> String?) -> Int? {
        var least: Int?
        for line in (read("/proc/self/cgroup") ?? "").split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isVersion2 = parts[0] == "0"
            guard isVersion2 || parts[1].split(separator: ",").contains("cpu") else { continue }
            // In a container the path may be the host's, and the root is the container's group.
            var names = parts[2].split(separator: "/")
            while true {
                let group = names.map { "/\($0)" }.joined()
                let quota =
                    isVersion2
                    ? unified(read("/sys/fs/cgroup\(group)/cpu.max"))
                    : ratio(
                        read("/sys/fs/cgroup/cpu\(group)/cpu.cfs_quota_us"),
                        read("/sys/fs/cgroup/cpu\(group)/cpu.cfs_period_us"))
                if let quota { least = min(least ?? quota, quota) }
                if names.popLast() == nil { break }
            }
        }
        return least
    }

    /// `max 100000`, or `150000 100000`.
    private static func unified(_ text: String?) -> Int? {
        let words = (text ?? "").split { $0 == " " || $0 == "\n" }
        return words.count == 2 ? ratio(String(words[0]), String(words[1])) : nil
    }

    /// Rounded up; nil without a quota, which is `max`, or -1.
    private static func ratio(_ quota: String?, _ period: String?) -> Int? {
        func number(_ text: String?) -> Int? { text.flatMap { Int($0.filter { $0 != "\n" }) } }
        guard let quota = number(quota), let period = number(period), quota > 0, period > 0 else {
            return nil
        }
        return (quota - 1) / period + 1
    }
}
