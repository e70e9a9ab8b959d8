import Testing

@testable import Gateway

/// Dependencies of calls, written `name<name,name`: the call, then the calls that it waits for.
@Suite struct CallGraphTests {
    @Test(arguments: [
        ("a b c", [[], [], []]),
        ("a b<a c<a,b", [[], [0], [0, 1]]),
        ("a<c b c", [[2], [], []]),
        ("a<b,b,unknown b", [[1], []]),
    ])
    func waitsForReferencedCalls(_ calls: String, expected: [[Int]]) {
        #expect(graph(calls).waitsFor == expected)
    }

    @Test(arguments: [
        ("a<c b c<b", [1, 2, 0]), ("a b<a c", [0, 1, 2]), ("a<a b", [1]), ("a<b b<a c<a", []),
    ])
    func ordersCallsAfterTheirDependencies(_ calls: String, expected: [Int]) {
        #expect(graph(calls).order == expected)
    }

    @Test(arguments: [
        ("a b<a", []),
        ("a<a", [[0]]),
        ("a<b b<a", [[0, 1]]),
        ("a<b b<c c<a", [[0, 1, 2]]),
        ("x<b a<b b<a", [[1, 2]]),
        ("a<b b<a c<d d<c", [[0, 1], [2, 3]]),
    ])
    func findsCycles(_ calls: String, expected: [[Int]]) {
        #expect(graph(calls).cycles == expected)
    }

    @Test func afterOrdersCallsWithoutReferences() {
        let graph = CallGraph(
            names: ["a", "b", "c"], uses: [[], ["a"], []], after: [[], ["c", "a"], ["unknown"]])
        #expect(graph.uses == [[], [0], []])
        #expect(graph.waitsFor == [[], [0, 2], []])
        #expect(graph.order == [0, 2, 1])
    }

    @Test func findsCyclesThroughAfter() {
        let graph = CallGraph(names: ["a", "b"], uses: [["b"], []], after: [[], ["a"]])
        #expect(graph.cycles == [[0, 1]])
    }

    private func graph(_ text: String) -> CallGraph {
        let calls = text.split(separator: " ").map { $0.split(separator: "<").map(String.init) }
        return CallGraph(
            names: calls.map { $0[0] },
            uses: calls.map { $0.count > 1 ? $0[1].split(separator: ",").map(String.init) : [] })
    }
}
