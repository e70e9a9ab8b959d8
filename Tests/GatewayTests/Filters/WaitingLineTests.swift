import Promises
import SimReactor
import Testing

@testable import Gateway

/// First come, first served, and whoever gives up leaves: at any moment, also in the turn in which
/// it would have been served.
@Suite struct WaitingLineTests {
    private let network: SimNetwork
    private let loop: SimLoop
    private let line = WaitingLine<Int>()

    init() {
        network = SimNetwork(seed: 1)
        loop = network.makeLoop("core")
    }

    private func join(_ count: Int) -> [Local<Int>] {
        (0..<count).map { _ in line.join(on: loop.core) }
    }

    private func outcomes(of promises: [Local<Int>]) -> [Int?] {
        var outcomes: [Int?] = promises.map { _ in nil }
        for (index, promise) in promises.enumerated() {
            promise.whenSettled { outcomes[index] = try? $0.get() }
        }
        network.runUntilQuiet()
        return outcomes
    }

    @Test func theFirstIsServedFirst() {
        let promises = join(3)
        #expect(line.serve { 1 })
        #expect(line.serve { 2 })
        #expect(outcomes(of: promises) == [1, 2, nil])
        #expect(line.count == 1)
    }

    @Test func nobodyWaitsAndNothingIsMade() {
        var isMade = false
        let isServed = line.serve {
            isMade = true
            return 1
        }
        #expect(!isServed && !isMade)
    }

    @Test func whoGivesUpLeaves() {
        let promises = join(3)
        promises[1].cancel()
        network.runUntilQuiet()
        #expect(line.count == 2)
        #expect(line.serve { 1 })
        #expect(line.serve { 2 })
        #expect(outcomes(of: promises) == [1, nil, 2])
    }

    /// The cancellation is not yet told when the good is there.
    @Test func whoGivesUpInTheSameTurnIsPassedOverAndCountedOnce() {
        let promises = join(2)
        promises[0].cancel()
        #expect(line.serve { 1 })
        #expect(outcomes(of: promises) == [nil, 1])
        #expect(line.count == 0)
    }

    @Test func whenAllGiveUpInTheSameTurnNobodyIsServed() {
        let promises = join(2)
        for promise in promises { promise.cancel() }
        #expect(!line.serve { 1 })
        network.runUntilQuiet()
        #expect(line.count == 0)
    }

    @Test func whoGivesUpAfterItWasServedChangesNothing() {
        let promises = join(2)
        #expect(line.serve { 1 })
        promises[0].cancel()
        network.runUntilQuiet()
        #expect(line.count == 1)
    }

    @Test func emptyPlacesAreForgotten() {
        for number in 1...1000 {
            let promises = join(2)
            promises[0].cancel()
            network.runUntilQuiet()
            #expect(line.serve { number })
        }
        #expect(line.count == 0)
        #expect(!line.serve { 0 })
    }
}
