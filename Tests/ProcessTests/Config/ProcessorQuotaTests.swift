import Testing

@testable import Process

@Suite struct ProcessorQuotaTests {
    private func processors(_ files: [String: String]) -> Int? {
        ProcessorQuota.processors { files[$0] }
    }

    @Test(arguments: [
        ("200000 100000\n", 2), ("150000 100000\n", 2), ("50000 100000\n", 1),
        ("100001 100000\n", 2), ("max 100000\n", nil), ("", nil), ("0 100000\n", nil),
        ("100000 0\n", nil), ("-1 100000\n", nil), ("a b\n", nil), ("100000\n", nil),
        ("9223372036854775807 1\n", Int.max),
    ]) func version2(_ text: String, _ expected: Int?) {
        #expect(
            processors(["/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/a/cpu.max": text])
                == expected)
    }

    @Test func theLeastQuotaOfTheGroupsAboveCounts() {
        var files = [
            "/proc/self/cgroup": "0::/kube/pod/one\n",
            "/sys/fs/cgroup/kube/cpu.max": "300000 100000",
            "/sys/fs/cgroup/kube/pod/cpu.max": "max 100000",
            "/sys/fs/cgroup/kube/pod/one/cpu.max": "400000 100000",
        ]
        #expect(processors(files) == 3)
        files["/sys/fs/cgroup/cpu.max"] = "100000 100000"
        #expect(processors(files) == 1)
    }

    @Test func version1() {
        let files = [
            "/proc/self/cgroup": "11:memory:/other\n4:cpu,cpuacct:/docker/1\n0::/\n",
            "/sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us": "250000\n",
            "/sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us": "100000\n",
        ]
        #expect(processors(files) == 3)
        let unlimited = files.merging(["/sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us": "-1\n"]) {
            $1
        }
        #expect(processors(unlimited) == nil)
    }

    /// The path of a container's group is the host's, if the container has no namespace of its own.
    @Test func theRootIsReadWhereThePathDoesNotExist() {
        let files = [
            "/proc/self/cgroup": "4:cpu:/docker/1\n",
            "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
            "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        ]
        #expect(processors(files) == 1)
    }

    @Test(arguments: [nil, "", "\n", "nonsense", "0:/", "4:cpuset:/a\n"])
    func otherSystemsHaveNoQuota(_ groups: String?) {
        let files = ["/sys/fs/cgroup/cpu.max": "100000 100000", "/proc/self/cgroup": groups]
        #expect(processors(files.compactMapValues { $0 }) == nil)
    }

    @Test func atLeastOneProcessorIsAvailable() {
        #expect(ProcessorQuota.available >= 1)
    }
}
