import Rehearsal
import Testing

@testable import Simulation

@Suite struct MinimiserTests {
    private func statuses(_ options: RunOptions) -> [Int] {
        let record = Cluster(seed: 2, options: options).runToEnd()
        return record.requests.compactMap { $0?.response?.status }
    }

    /// A single response needs one connection only.
    @Test func keepsOneConnectionForOneResponse() throws {
        let wanted = try #require(statuses(RunOptions()).last)
        let smallest = Minimiser.smallest(2, RunOptions()) { options in
            statuses(options).contains(wanted)
        }
        #expect(smallest.connections?.count == 1)
        #expect(smallest.requestsMax != nil)
        #expect(statuses(smallest).contains(wanted))
    }

    @Test func keepsOptionsIfEveryResponseIsNeeded() {
        let all = statuses(RunOptions()).count
        let smallest = Minimiser.smallest(2, RunOptions()) { statuses($0).count == all }
        #expect(smallest.connections == nil && statuses(smallest).count == all)
    }

    @Test func replayCommandHasAllOptions() {
        var options = RunOptions()
        options.connections = [3]
        options.without = [.resets, .stalls]
        let violation = Violation(checker: .marks, mark: "r1", text: "a wrong response")
        let result = SeedResult(
            seed: 9, options: options, violations: [violation], hash: 0, requests: 1, attempts: 1,
            streams: 0, coverage: Coverage(), excuses: [:])
        #expect(
            result.replay
                == "swift run -c release cluster-simulation --seed 9 --connections 3"
                + " --without resets,stalls --trace")
    }
}
