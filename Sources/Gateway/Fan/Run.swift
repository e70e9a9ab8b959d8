import Basics
import HTTP
import HTTPClient
import JSONText
import Promises
import Reactor

/// One request's fan-out while it runs: the values that templates use, and what failed so far.
final class Run {
    let values: CallValues
    let exchange: Exchange
    let loop: any Loop
    let deadline: Instant

    /// By call index.
    private(set) var failures: [CallFailure?]
    /// How long each call took, where the endpoint tells its clients.
    var durations: [Duration?]

    init(values: CallValues, exchange: Exchange, loop: any Loop, deadline: Instant) {
        self.values = values
        self.exchange = exchange
        self.loop = loop
        self.deadline = deadline
        failures = Array(repeating: nil, count: values.parts.count)
        durations = []
    }

    /// Turns any error of a call into its failure, and keeps it for the report.
    func noted(_ error: any Error, of call: CallPlan) -> CallFailure {
        var failure = CallFailure(error)
        failure.call = call.index
        failures[call.index] = failure
        return failure
    }
}
