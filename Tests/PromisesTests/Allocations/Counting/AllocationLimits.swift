import Foundation

/// How many allocations a scenario may make: `Tests/Benchmarks/allocations.json`, by the kind of
/// build and the name of the scenario.
struct AllocationLimits {
    let limits: [String: Double]

    static var build: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    init(of build: String = AllocationLimits.build) throws {
        let file = URL(fileURLWithPath: #filePath)
            .resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Benchmarks/allocations.json")
        let all = try JSONDecoder().decode(
            [String: [String: Double]].self, from: Data(contentsOf: file))
        limits = all[build] ?? [:]
    }
}
