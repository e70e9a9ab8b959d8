import Basics
import Gateway
import HTTP

/// What happened at one endpoint on one worker: counts since the start, times of the last minute, and
/// the limits of its retained requests.
///
/// One for each endpoint of a configuration; a reload that changes the calls of an endpoint creates
/// another one. Owned by `RecentRequests`.
final class EndpointActivity {
    /// In entries of the rings.
    let number: UInt32
    /// The names of the endpoint and its calls.
    private(set) var names: RecordedEndpoint
    private(set) var totals = ActivityTotals()
    /// The sequence number of its latest entry.
    var lastSequence: UInt64 = 0
    private var window: TimeWindow
    private var limit = RetentionLimit()
    /// In microseconds.
    private var slowAbove = UInt32.max
    /// When that was computed, in seconds.
    private var slowSecond: Int64 = .min

    /// With so few requests in the window, one of them would be the p99.
    static let slowCountMin = 100

    init(number: UInt32, _ names: RecordedEndpoint) {
        self.number = number
        self.names = names
        window = TimeWindow(
            rows: EndpointOverview.requestRows + EndpointOverview.callRows * names.calls.count,
            counters: EndpointOverview.callCounters * names.calls.count
                + EndpointOverview.requestCounters)
    }

    /// Whether these are the names of the same endpoint with the same calls; a reload makes new objects
    /// of the same content.
    func adopt(_ other: RecordedEndpoint) -> Bool {
        guard names.hasSameContent(as: other) else { return false }
        names = other
        return true
    }

    /// Counts a request.
    ///
    /// - Parameter now: the end of the request, in nanoseconds of the loop's clock
    /// - Returns: the reasons to retain it, as far as they are within the limit
    func count(
        _ record: RequestRecord, _ outcome: RequestOutcome, at now: Int64
    ) -> RetentionReason {
        count(outcome, at: now)
        var reasons = RetentionReason(outcome)
        let second = now / 1_000_000_000
        if !names.isPadded, record.ended.hasHappened {
            if isSlow(record.ended.microseconds, second) { reasons.insert(.slow) }
            window.count(record.ended.microseconds, in: 0)
            window.count(record.times.microseconds(.own), in: 1)
        }
        countCalls(of: record)
        return reasons.isEmpty ? [] : limit.admit(reasons, second: second)
    }

    /// Counts something that never became a request.
    func countRefusal(at now: Int64) { count(.rejected, at: now) }

    private func count(_ outcome: RequestOutcome, at now: Int64) {
        totals.count(outcome)
        window.advance(to: now)
        let counter = EndpointOverview.callCounters * names.calls.count
        window.add(to: counter)
        switch outcome {
        case .ok: break
        case .failed, .truncated, .cutOff: window.add(to: counter + 1)
        case .partial: window.add(to: counter + 2)
        case .rejected: window.add(to: counter + 3)
        case .clientGone: window.add(to: counter + 4)
        }
    }

    private func countCalls(of record: RequestRecord) {
        let calls = record.calls
        for index in 0..<min(calls.count, names.calls.count) {
            let call = calls[index]
            guard call.began.hasHappened else { continue }
            let counter = index * EndpointOverview.callCounters
            window.add(to: counter)
            let end = CallEnd(call.outcome, status: record.status(ofCall: index))
            switch end {
            case .good, .rejected: break
            case .failed: window.add(to: counter + 1)
            case .none: window.add(to: counter + 4)
            }
            if call.begunAttempts > 1 { countRepetition(of: index, record, counter) }
            // How long a cancelled call ran depends on another call.
            guard !names.isPadded, call.ended.hasHappened, end != .none else { continue }
            let row = EndpointOverview.requestRows + index * EndpointOverview.callRows
            window.count(call.began.microseconds, in: row)
            window.count(call.ended.microseconds, in: row + 1)
            window.count(
                call.ended.microseconds &- call.began.microseconds, in: row + 2)
        }
    }

    private func countRepetition(of call: Int, _ record: RequestRecord, _ counter: Int) {
        var (isRetried, isHedged) = (false, false)
        for attempt in record.attempts
        where Int(attempt.call) == call && attempt.permitted.hasHappened {
            if attempt.cause == .hedge { isHedged = true }
            if attempt.cause == .retry { isRetried = true }
        }
        if isRetried { window.add(to: counter + 2) }
        if isHedged { window.add(to: counter + 3) }
    }

    /// Compares with the p99 of the last minute, which is computed once per second.
    private func isSlow(_ microseconds: UInt32, _ second: Int64) -> Bool {
        if second != slowSecond {
            slowSecond = second
            slowAbove =
                window.threshold(0.99, of: 0, countMin: Self.slowCountMin) ?? .max
        }
        return microseconds > slowAbove
    }

    /// A copy that may leave the worker.
    func overview(at now: Int64) -> EndpointOverview {
        // An endpoint without requests keeps no old times.
        if totals.requests > 0 { window.advance(to: now) }
        return EndpointOverview(
            names: names, totals: totals, excess: limit.excess, window: window.sums,
            windowSpan: window.span(at: now))
    }
}

/// Counts of requests since the start of a worker.
package struct ActivityTotals: Sendable, Equatable {
    package private(set) var requests = 0
    package private(set) var failed = 0
    package private(set) var partial = 0
    package private(set) var rejected = 0
    package private(set) var clientGone = 0

    package init() {}

    mutating func count(_ outcome: RequestOutcome) {
        requests += 1
        switch outcome {
        case .ok: break
        case .partial: partial += 1
        case .rejected: rejected += 1
        case .failed, .truncated, .cutOff: failed += 1
        case .clientGone: clientGone += 1
        }
    }

    package mutating func add(_ other: ActivityTotals) {
        requests += other.requests
        failed += other.failed
        partial += other.partial
        rejected += other.rejected
        clientGone += other.clientGone
    }
}

extension RecordedEndpoint {
    fileprivate func hasSameContent(as other: RecordedEndpoint) -> Bool {
        name == other.name && isPadded == other.isPadded
            && calls.elementsEqual(other.calls) {
                $0.name == $1.name && $0.backend == $1.backend && $0.hosts == $1.hosts
                    && $0.needs == $1.needs
            }
    }
}
