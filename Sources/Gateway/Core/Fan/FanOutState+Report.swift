import Basics
import HTTP
import Reactor

// The failures and the times of the calls, as the response reports them.
extension FanOutState {
    func hasFailed(_ call: CallPlan) -> Bool {
        hasFailed(call.index)
    }

    /// The failures so far, in file order.
    func reportedFailures(of plan: EndpointPlan) -> [ReportedFailure] {
        if !hasRareOutcomes && failures.isEmpty { return [] }
        let all = partialFailures + failures + misplaced
        return plan.calls.flatMap { call in
            all.filter { $0.call == call.index }.map { ReportedFailure($0, of: call) }
        }
    }

    /// The failure of a call, as the response reports it; nil if it has not failed.
    func reportedFailure(of call: Int) -> ReportedFailure? {
        (failures + misplaced).first { $0.call == call }
            .map { ReportedFailure($0, of: endpoint.plan.calls[call]) }
    }

    /// `product;dur=12.1, ..., total;dur=15.0` in milliseconds, for the calls that were made.
    func serverTiming(of plan: EndpointPlan) -> FieldValue {
        var text: [UInt8] = []
        let calls = record.calls
        for call in plan.calls where calls.indices.contains(call.index) {
            let record = calls[call.index]
            guard let duration = record.ended.since(record.began) else { continue }
            text.append(call.name)
            text.append(literal: ";dur=")
            text.append(tenthsOfMilliseconds: duration)
            text.append(literal: ", ")
        }
        text.append(literal: "total;dur=")
        text.append(tenthsOfMilliseconds: endpoint.loop.now - context.requestReceived)
        return FieldValue(Bytes(text)) ?? "total"
    }
}
