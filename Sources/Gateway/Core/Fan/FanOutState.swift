import Basics
import HTTP
import JSONText
import Reactor

/// The state of one request's fan-out: the values that templates use, and the failures so far. Both
/// exist for each request, so they are one object.
final class FanOutState: CallValues {
    let endpoint: Endpoint
    let context: RequestContext
    let loop: any Loop
    /// When the response must be ready.
    let deadline: Instant

    /// In order of time.
    private(set) var failures: [FailedCall] = []
    /// Keys that the change of case dropped; empty for most requests.
    private(set) var dropped: [ReportedFailure] = []
    /// How far a response that is sent part by part is; nil for a document.
    var stream: StreamProgress?
    /// Nil for most requests.
    private var rare: RareOutcomes?
    /// The first failure of a required call, after which no other call starts.
    private(set) var requiredFailure: FailedCall?
    /// The calls that their conditions disabled; empty for most requests.
    private var disabled: [Int] = []
    /// Bytes of all parts: the capacity to reserve, so that the response's buffer does not grow.
    private(set) var partBytes = 0
    let record: RequestRecord
    /// What the responses of the calls forbid a cache.
    private(set) var storingLimits = StoringLimits()

    init(
        head: RequestHead, params: Params, body: Bytes, checkedBody: JSONSlice?,
        of endpoint: Endpoint, _ context: RequestContext
    ) {
        self.endpoint = endpoint
        self.context = context
        loop = endpoint.loop
        deadline = context.deadline
        record = context.record
        super.init(
            head: head, params: params, body: body, checkedBody: checkedBody,
            calls: endpoint.plan.storedParts, context: context, proxies: endpoint.plan.proxies)
    }

    /// Records that a call is sent now; gives the place of its first attempt in the record.
    func recordStart(of call: CallPlan) -> Int {
        recordBegin(of: call)
        return record.beginAttempt(of: call.index, .first, at: loop.now)
    }

    /// Records that the requests of a call are sent from now on.
    func recordBegin(of call: CallPlan) {
        assert(call.waitsFor.allSatisfy(hasSettled), "a call starts before one that it waits for")
        // A call that starts while no other runs ends the phase `own` of `RequestTimes`, which
        // needs the exact time; for other calls the time of the loop iteration is exact enough.
        record.beginCall(call.index, at: record.callsInFlight == 0 ? loop.exactNow : loop.now)
    }

    /// Stores the part of a call for the templates of other calls.
    ///
    /// - Parameter attempt: the attempt whose response has the part
    func recordPart(_ part: Part, of call: CallPlan, from attempt: Int?) {
        record.endCall(call.index, .succeeded, deciding: attempt, at: loop.now)
        partBytes += part.value.bytes.count
        store(part.value, of: call.index)
    }

    /// Records keys of a call's part that were dropped, for the report.
    func recordDropped(_ keys: [String], of call: CallPlan) {
        dropped += ReportedFailure.all(dropping: keys, of: call)
    }

    /// Records what the fields of a call's response forbid a cache.
    func recordStoringLimits(_ fields: Fields) {
        guard !fields.isEmpty else { return }
        storingLimits.formUnion(StoringLimits(of: fields))
    }

    /// Records that a call failed, for the report.
    ///
    /// - Parameters:
    ///   - attempt: the attempt whose response is the failure; nil if the call has no response
    ///   - elements: of a list, those that failed
    func recordFailure(
        _ error: any Error, of call: CallPlan, from attempt: Int? = nil,
        elements: FailedElements? = nil
    ) -> FailedCall {
        let failure = CallFailure(error)
        store(nil, of: call.index)
        record.endCall(
            call.index, .failed(failure.kind), deciding: attempt, detail: failure.ownDetail,
            at: loop.now)
        let failed = FailedCall(
            failure: failure, call: call.index,
            host: endpoint.plan.exposesDetails && elements == nil
                ? record.lastHost(of: call.index) : nil,
            elements: elements)
        failures.removeAll { $0.call == call.index }
        failures.append(failed)
        if call.isRequired, requiredFailure == nil { requiredFailure = failed }
        return failed
    }

    /// Records that the part of a call cannot be placed, while others may still run.
    func recordMisplaced(_ error: any Error, of call: CallPlan) {
        guard !hasFailed(call.index), !misplaced.contains(where: { $0.call == call.index }) else {
            return
        }
        changeRare {
            $0.misplaced.append(
                FailedCall(failure: CallFailure(error), call: call.index, host: nil, elements: nil))
        }
        store(nil, of: call.index)
    }

    /// Whether there are outcomes that few requests have.
    var hasRareOutcomes: Bool { rare != nil }

    /// Calls of which some elements failed, and lists that were truncated.
    var partialFailures: [FailedCall] {
        guard let rare else { return [] }
        var all = rare.partialFailures
        for (call, misplaced) in rare.misplacedElements {
            let index = all.firstIndex { $0.call == call && $0.failure.kind != .truncated }
            if let index {
                all[index] = all[index].adding(misplaced)
            } else {
                all.append(misplaced)
            }
        }
        return all
    }

    /// The failures of calls whose parts cannot be placed, of a response that is sent part by part.
    var misplaced: [FailedCall] { rare?.misplaced ?? [] }

    /// Records the values of the elements of a call's list.
    func recordList(_ values: [ListValue], of call: CallPlan) {
        changeRare { $0.lists[call.index] = values }
    }

    /// The values of the elements of a call's list; nil if there was no list.
    func list(of call: CallPlan) -> [ListValue]? { rare?.lists[call.index] }

    /// Records that some elements of a call have no value, while the call has succeeded.
    func recordFailedElements(
        _ failure: CallFailure, _ elements: FailedElements, of call: CallPlan
    ) {
        changeRare {
            $0.partialFailures.append(
                FailedCall(failure: failure, call: call.index, host: nil, elements: elements))
        }
    }

    /// Records that values of elements cannot be placed.
    func recordMisplacedElements(
        _ failure: CallFailure, _ elements: FailedElements, of call: CallPlan
    ) {
        changeRare {
            $0.misplacedElements[call.index] = FailedCall(
                failure: failure, call: call.index, host: nil, elements: elements)
        }
    }

    /// The elements of a call that have failed, while the call has succeeded.
    func failedElements(of call: CallPlan) -> FailedCall? {
        partialFailures.first { $0.call == call.index && $0.failure.kind != .truncated }
    }

    /// The call itself fails because of them.
    func forgetFailedElements(of call: CallPlan) {
        changeRare {
            $0.misplacedElements[call.index] = nil
            $0.partialFailures.removeAll {
                $0.call == call.index && $0.failure.kind != .truncated
            }
        }
    }

    /// Records that elements of a list were left out.
    func recordTruncation(of call: CallPlan, by count: Int) {
        recordFailedElements(.truncated, FailedElements(count: count, first: []), of: call)
    }

    private func changeRare(_ change: (RareOutcomes) -> Void) {
        let outcomes = rare ?? RareOutcomes()
        rare = outcomes
        change(outcomes)
    }

    func hasFailed(_ call: Int) -> Bool {
        failures.contains { $0.call == call }
    }

    /// Whether a call has a part or has failed, or its condition disabled it.
    func hasSettled(_ call: Int) -> Bool {
        hasFailed(call) || disabled.contains(call)
            || (record.calls.indices.contains(call) && record.calls[call].outcome == .succeeded)
    }

    /// Records that a call is not made because of its condition.
    func recordDisabled(_ call: CallPlan) {
        disabled.append(call.index)
    }

    /// Whether the condition of a call, if it has one, holds.
    func isEnabled(_ call: CallPlan) -> Bool {
        call.condition == nil || !disabled.contains(call.index)
    }

    /// Records that the head of a response that is sent part by part is sent now.
    func recordFirstPart() { record.firstPartMade(at: loop.now) }

    /// Records that the response is built.
    func recordResponse() {
        record.responseMade(at: loop.now)
    }
}

extension RequestRecord {
    /// The host, with its port, that a call was sent to last.
    fileprivate func lastHost(of call: Int) -> FieldValue? {
        guard let endpoint, endpoint.calls.indices.contains(call),
            let host = attempts.last(where: { Int($0.call) == call && $0.host != nil })?.host
        else { return nil }
        let hosts = endpoint.calls[call].hosts
        return hosts.indices.contains(Int(host)) ? hosts[Int(host)] : nil
    }
}

/// How far a response that is sent part by part is.
enum StreamProgress {
    case beforeHead
    /// No failure is the response any more.
    case afterHead
}
