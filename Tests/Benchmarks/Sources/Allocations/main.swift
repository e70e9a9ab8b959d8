import Foundation
import MallocCounter

// Counts the allocations of a release build and compares them with their limits.
guard mallocCounterWorks() else {
    print("this build replaces the allocator: nothing is counted")
    exit(0)
}
let limits = try AllocationLimits().limits
var failures = 0
for scenario in AllocationScenario.all {
    let count = scenario.allocations()
    let limit = limits[scenario.name] ?? 0
    if count > limit + 0.01 { failures += 1 }
    print(
        count > limit + 0.01 ? "TOO MANY" : "ok      ", scenario.name,
        String(format: "%.2f, limit %.0f", count, limit))
}
exit(failures == 0 ? 0 : 1)
