import Rehearsal
import Testing

@testable import Simulation

@Suite struct MinimiserTests {
    private func answers(_ options: RunOptions) -> [Int] {
        let record = Cluster(seed: 2, options: options).run()
        return record.requests.compactMap { $0?.answer?.status }
    }

    /// Whatever a run of many clients shows, one of them usually shows alone.
    @Test func oneAnswerNeedsOneConnection() throws {
        let wanted = try #require(answers(RunOptions()).last)
        let smallest = Minimiser.smallest(2, RunOptions()) { options in
            answers(options).contains(wanted)
        }
        #expect(smallest.connections?.count == 1)
        #expect(smallest.requestsMax != nil)
        #expect(answers(smallest).contains(wanted))
    }

    @Test func whatNeedsEverythingStaysAsItIs() {
        let all = answers(RunOptions()).count
        let smallest = Minimiser.smallest(2, RunOptions()) { answers($0).count == all }
        #expect(smallest.connections == nil && answers(smallest).count == all)
    }

    @Test func theReportSaysHowToSeeItAgain() {
        var options = RunOptions()
        options.connections = [3]
        options.without = [.resets, .stalls]
        let violation = Violation(checker: .marks, mark: "r1", text: "not its own")
        let verdict = Verdict(
            seed: 9, options: options, violations: [violation], hash: 0, requests: 1, attempts: 1)
        #expect(
            verdict.replay
                == "swift run -c release cluster-simulation --seed 9 --connections 3"
                + " --without resets,stalls --trace")
    }
}
