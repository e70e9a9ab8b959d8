import Basics
import Gateway
import HTTP

/// The counts of the calls to one backend, or of one call of an endpoint, on one worker.
package struct CallMetrics: Sendable {
    /// Who decided a call that had a hedge.
    package enum HedgeWinner: Int, Sendable, CaseIterable {
        case first
        case hedge
        /// No attempt had a response.
        case none
    }

    package let labels: CallLabels
    package private(set) var succeeded = 0
    /// By kind of failure.
    private var failed = [Int](repeating: 0, count: CallFailure.Kind.allCases.count)
    package private(set) var durations = HistogramWithExemplars(.durations)
    package private(set) var retries = 0
    private var hedges = [Int](repeating: 0, count: HedgeWinner.allCases.count)

    package init(_ labels: CallLabels) {
        self.labels = labels
    }

    /// How calls ended, in a fixed order, by the names that reports use: `ok`, or a kind of failure.
    package var outcomes: [(name: String, count: Int)] {
        [("ok", succeeded)]
            + CallFailure.Kind.allCases.map { ($0.facts.name, failed[Int($0.rawValue)]) }
    }

    package subscript(winner: HedgeWinner) -> Int { hedges[winner.rawValue] }

    /// A call of a request that has ended. One that was not made counts nothing.
    ///
    /// - Parameter hidesTimes: its endpoint pads its responses
    mutating func count(_ call: CallRecord, hidesTimes: Bool, _ exemplar: Exemplar) {
        switch call.outcome {
        case .none: return
        case .succeeded: succeeded &+= 1
        case .failed(let kind): failed[Int(kind.rawValue)] &+= 1
        }
        guard !hidesTimes, call.began.hasHappened, call.ended.hasHappened else { return }
        durations.record(
            Int64(call.ended.microseconds) - Int64(call.began.microseconds), exemplar)
    }

    mutating func countRetry() { retries &+= 1 }

    mutating func countHedge(_ winner: HedgeWinner) { hedges[winner.rawValue] &+= 1 }

    mutating func add(_ other: CallMetrics) {
        succeeded &+= other.succeeded
        for index in failed.indices { failed[index] &+= other.failed[index] }
        durations.add(other.durations)
        retries &+= other.retries
        for index in hedges.indices { hedges[index] &+= other.hedges[index] }
    }

    /// A copy that shares no memory.
    var copy: CallMetrics {
        var copy = CallMetrics(labels)
        copy.add(self)
        return copy
    }
}
