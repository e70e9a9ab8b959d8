import Basics
import HTTP
import JSONText
import Reactor

/// The state of one request's fan-out: the values that templates use, and the failures so far.
final class FanOutState {
    let values: CallValues
    let exchange: Exchange
    let loop: any Loop
    /// When the response must be ready.
    let deadline: Instant

    /// In order of time.
    private(set) var failures: [FailedCall] = []
    /// Bytes of all parts, so that the response is written once and never moved.
    private(set) var partBytes = 0
    /// How long each call took, where the endpoint sends `Server-Timing`; else nil.
    let timings: CallTimings?
    /// By call index, where the endpoint exposes details; else empty.
    private let calledHosts: [CalledHost]

    init(
        values: CallValues, exchange: Exchange, loop: any Loop, plan: EndpointPlan
    ) {
        self.values = values
        self.exchange = exchange
        self.loop = loop
        deadline = exchange.deadline
        timings = plan.hasServerTiming ? CallTimings(calls: plan.calls.count) : nil
        calledHosts = plan.exposesDetails ? plan.calls.map { _ in CalledHost() } : []
    }

    /// Receives the host of a call; nil where the endpoint does not expose details.
    func calledHost(of call: CallPlan) -> CalledHost? {
        calledHosts.isEmpty ? nil : calledHosts[call.index]
    }

    /// Records that a call is sent now.
    func recordStart(of call: CallPlan) {
        timings?.recordStart(of: call.index, at: loop.now)
    }

    /// Stores the part of a call for the templates of other calls.
    func recordPart(_ part: Part, of call: CallPlan) {
        timings?.recordEnd(of: call.index, at: loop.now)
        partBytes += part.value.bytes.count
        values.store(part.value, of: call.index)
    }

    /// Records that a call failed, for the report.
    func recordFailure(_ error: any Error, of call: CallPlan) -> FailedCall {
        timings?.recordEnd(of: call.index, at: loop.now)
        let failed = FailedCall(
            failure: CallFailure(error), call: call.index, host: calledHost(of: call)?.name)
        failures.removeAll { $0.call == call.index }
        failures.append(failed)
        return failed
    }
}

/// When the calls of one request were sent, and how long they took.
final class CallTimings {
    private var starts: [Instant?]
    private(set) var durations: [Duration?]

    init(calls: Int) {
        starts = Array(repeating: nil, count: calls)
        durations = Array(repeating: nil, count: calls)
    }

    func recordStart(of call: Int, at now: Instant) { starts[call] = now }

    func recordEnd(of call: Int, at now: Instant) {
        if let start = starts[call] { durations[call] = now - start }
    }
}
