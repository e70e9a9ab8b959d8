import Foundation

/// The limits of allocations: `Tests/Benchmarks/allocations.json`, by build configuration and name
/// of the scenario.
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
