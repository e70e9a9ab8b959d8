import MallocCounter
import Testing

/// No operation allocates more than its limit in the file, and the file has no other names.
@Suite(.enabled(if: mallocCounterWorks(), "this build replaces the allocator"))
struct AllocationTests {
    @Test(arguments: AllocationScenario.all.map(\.name))
    func staysWithinItsLimit(_ name: String) throws {
        let scenario = try #require(AllocationScenario.all.first { $0.name == name })
        let limit = try #require(try AllocationLimits().limits[name])
        #expect(scenario.allocations() <= limit + 0.01)
    }

    @Test(arguments: ["debug", "release"])
    func everyLimitIsChecked(build: String) throws {
        let names = try AllocationLimits(of: build).limits.keys
        #expect(Set(names) == Set(AllocationScenario.all.map(\.name)))
    }

    @Test func theCounterCounts() {
        let scenario = AllocationScenario("an object") { times in
            for number in 0..<times { Self.store(Box(number)) }
        }
        #expect(scenario.allocations() == 1)
    }

    private final class Box {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    @inline(never)
    private static func store(_ box: Box) { stored = box }
    private nonisolated(unsafe) static var stored: Box?
}
