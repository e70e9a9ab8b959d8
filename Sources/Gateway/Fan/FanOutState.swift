import Basics
import HTTP
import JSONText
import Reactor

/// One request's fan-out while it runs: the values that templates use, and what failed so far.
final class FanOutState {
    let values: CallValues
    let exchange: Exchange
    let loop: any Loop
    /// When the response must be ready.
    let deadline: Instant

    /// Those so far, in order of time.
    private(set) var failures: [FailedCall] = []
    /// What all parts take together, for an answer that is written once and never moved.
    private(set) var partBytes = 0
    /// How long each call took, where the endpoint tells its clients; else empty.
    let timings: CallTimings?
    /// By call index, where the endpoint tells its clients; else empty.
    private let askedHosts: [AskedHost]

    init(
        values: CallValues, exchange: Exchange, loop: any Loop, plan: EndpointPlan
    ) {
        self.values = values
        self.exchange = exchange
        self.loop = loop
        deadline = exchange.deadline
        timings = plan.hasServerTiming ? CallTimings(calls: plan.calls.count) : nil
        askedHosts = plan.exposesDetails ? plan.calls.map { _ in AskedHost() } : []
    }

    /// Where a call's host is to be noted; nil where nobody wants to know.
    func askedHost(of call: CallPlan) -> AskedHost? {
        askedHosts.isEmpty ? nil : askedHosts[call.index]
    }

    /// A call is about to be sent.
    func began(_ call: CallPlan) {
        timings?.began(call.index, at: loop.now)
    }

    /// A call has its part: kept for the templates of other calls.
    func kept(_ part: Part, of call: CallPlan) -> Part {
        timings?.ended(call.index, at: loop.now)
        partBytes += part.value.bytes.count
        values.keep(part.value, of: call.index)
        return part
    }

    /// Records that a call failed, for the report.
    func noted(_ error: any Error, of call: CallPlan) -> FailedCall {
        timings?.ended(call.index, at: loop.now)
        let failed = FailedCall(
            failure: CallFailure(error), call: call.index, host: askedHost(of: call)?.name)
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

    func began(_ call: Int, at now: Instant) { starts[call] = now }

    func ended(_ call: Int, at now: Instant) {
        if let start = starts[call] { durations[call] = now - start }
    }
}
