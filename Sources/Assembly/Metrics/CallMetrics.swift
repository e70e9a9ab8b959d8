package import Basics
import Gateway
import HTTP
import HTTPClient

/// The counts of the calls to one backend, or of one call of an endpoint, on one worker.
package struct CallMetrics: Sendable {
    /// Who decided a call that had a hedge.
    package enum HedgeWinner: Int, Sendable, CaseIterable {
        case first
        case hedge
        /// No attempt had a response.
        case none
    }

    /// How many calls ended in one way.
    package struct Outcome: Sendable, Equatable {
        /// `ok`, or a kind of failure.
        package let name: String
        /// The class of the status, `2xx`; empty for outcomes that are not divided by it.
        package let status: String
        package var count: Int
    }

    package let labels: CallLabels
    /// By class of the status.
    private var good = StatusClasses()
    /// Those whose status is not accepted, by class.
    private var unexpected = StatusClasses()
    /// By kind of failure, without `unexpectedStatus`.
    private var failed = [Int](repeating: 0, count: CallFailure.Kind.allCases.count)
    package private(set) var durations = HistogramWithExemplars(.durations)
    package private(set) var retries = 0
    private var hedges = [Int](repeating: 0, count: HedgeWinner.allCases.count)
    /// Nil before the first list.
    package private(set) var lists: ListMetrics?
    private var isShown = false

    package init(_ labels: CallLabels) {
        self.labels = labels
    }

    package var succeeded: Int { good.sum }

    /// Whether a call has ended, or the counts are shown nevertheless.
    package var isUsed: Bool {
        isShown || good.sum > 0 || unexpected.sum > 0 || failed.contains { $0 > 0 }
    }

    /// How calls ended, in a fixed order, by the names that reports use.
    package var outcomes: [Outcome] {
        good.outcomes("ok")
            + CallFailure.Kind.allCases.flatMap { kind in
                kind == .unexpectedStatus
                    ? unexpected.outcomes(kind.facts.name)
                    : [
                        Outcome(
                            name: kind.facts.name, status: "", count: failed[Int(kind.rawValue)])
                    ]
            }
    }

    package subscript(winner: HedgeWinner) -> Int { hedges[winner.rawValue] }

    /// A call of a request that has ended. One that was not made counts nothing.
    ///
    /// - Parameters:
    ///   - status: of the response that decided; 0 without one
    ///   - hidesTimes: its endpoint pads its responses
    mutating func count(
        _ call: CallRecord, status: UInt16, hidesTimes: Bool, _ exemplar: Exemplar
    ) {
        switch call.outcome {
        case .none: return
        // A list without elements succeeds without a response.
        case .succeeded: good.count(status == 0 ? 200 : status)
        case .failed(.unexpectedStatus): unexpected.count(status)
        case .failed(let kind):
            failed[Int(kind.rawValue)] &+= 1
            // How long a cancelled call ran depends on another call.
            if kind == .cancelled { return }
        }
        guard !hidesTimes, call.began.hasHappened, call.ended.hasHappened else { return }
        durations.record(
            Int64(call.ended.microseconds) - Int64(call.began.microseconds), exemplar)
    }

    /// Makes the counts visible before the first call.
    mutating func show() { isShown = true }

    mutating func count(_ list: ListRecord) {
        var counts = lists ?? ListMetrics()
        counts.count(list)
        lists = counts
    }

    /// Makes the counts of lists visible before the first one.
    mutating func showLists() { lists = lists ?? ListMetrics() }

    mutating func countRetry() { retries &+= 1 }

    mutating func countHedge(_ winner: HedgeWinner) { hedges[winner.rawValue] &+= 1 }

    mutating func add(_ other: CallMetrics) {
        good.add(other.good)
        unexpected.add(other.unexpected)
        for index in failed.indices { failed[index] &+= other.failed[index] }
        durations.add(other.durations)
        retries &+= other.retries
        for index in hedges.indices { hedges[index] &+= other.hedges[index] }
        guard let theirs = other.lists else { return }
        showLists()
        lists?.add(theirs)
    }

    /// A copy that shares no memory.
    var copy: CallMetrics {
        var copy = CallMetrics(labels)
        copy.add(self)
        return copy
    }
}

/// The counts of the lists of calls.
package struct ListMetrics: Sendable {
    package private(set) var elements = Histogram(.elements)
    /// Elements that shared the request of another one.
    package private(set) var shared = 0
    /// Elements that were left out because of `max`.
    package private(set) var truncated = 0

    fileprivate mutating func count(_ list: ListRecord) {
        elements.record(Int64(list.elements))
        shared &+= list.shared
        truncated &+= list.truncated
    }

    fileprivate mutating func add(_ other: ListMetrics) {
        elements.add(other.elements)
        shared &+= other.shared
        truncated &+= other.truncated
    }
}

/// Counts by the class of a status, `1xx` to `5xx`.
private struct StatusClasses: Sendable {
    private static let names = ["1xx", "2xx", "3xx", "4xx", "5xx"]

    private var counts = [Int](repeating: 0, count: 5)

    /// A status that is none of HTTP counts as the nearest class.
    mutating func count(_ status: UInt16) {
        counts[Int(min(max(status / 100, 1), 5)) - 1] &+= 1
    }

    var sum: Int { counts.reduce(0, &+) }

    mutating func add(_ other: StatusClasses) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
    }

    func outcomes(_ name: String) -> [CallMetrics.Outcome] {
        Self.names.indices.map {
            CallMetrics.Outcome(name: name, status: Self.names[$0], count: counts[$0])
        }
    }
}
