package import Basics
package import Promises

/// One client request until the end of its response: the state that everything that works on it
/// shares.
///
/// Created by the server when the head is complete, confined to its worker.
@usableFromInline
package final class Exchange {
    /// Identifies this request in the response, the log and requests to the backends.
    package let id: RequestID

    /// The trace that this request belongs to.
    package let trace: TraceContext

    /// Makes promises on this exchange's worker.
    package var local: LocalContext { resources.local }

    private let resources: ExchangeResources

    /// Limits the memory of the worker; nil without a limit. For a buffer that counts its own bytes,
    /// because it is emptied before the end of the exchange.
    package var budget: ByteBudget? { resources.budget }

    /// When the head was complete.
    package let began: Instant

    /// When the request was received completely, or its body failed; `began` for a request without
    /// a body. Deadlines and minimum durations count from here.
    package var requestReceived: Instant {
        get { unsafe state.requestReceived }
        set { unsafe state.requestReceived = newValue }
    }

    package static let noDeadline = Instant(nanoseconds: .max)

    /// When the response must be ready; `noDeadline` until the endpoint's chain sets it.
    package var deadline: Instant {
        get { unsafe state.deadline }
        set { unsafe state.deadline = newValue }
    }

    /// The matched endpoint, by the embedder's number; nil before and without a match.
    package var endpoint: Int? {
        get { unsafe state.endpoint }
        set { unsafe state.endpoint = newValue }
    }

    package let peer: PeerAddress

    /// What the embedder determined about the origin of the request; retained until its end.
    package var origin: AnyObject? {
        get { unsafe state.origin }
        set { unsafe state.origin = newValue }
    }

    /// What happens to this request; complete at its end. Another request of the worker gets it after
    /// this exchange is released.
    package let record: RequestRecord

    /// The header lines that the response gets besides its own, whatever responds: first those of
    /// `ServerSettings.responseFields`.
    package var responseFields: Fields {
        get { unsafe state.responseFields }
        set { unsafe state.responseFields = newValue }
    }

    /// Why the request was refused; nil if it was not.
    package var refusal: RefusalReason? {
        get { unsafe state.refusal }
        set { unsafe state.refusal = newValue }
    }

    /// What exactly is wrong with the token of a refused request; nil for other refusals.
    package var refusalCause: RefusalCause? {
        get { unsafe state.refusalCause }
        set { unsafe state.refusalCause = newValue }
    }

    /// Why the server responded instead of the service, or could not read the body, for the access
    /// log; nil if it did not.
    package var rejection: StaticString? {
        get { unsafe state.rejection }
        set { unsafe state.rejection = newValue }
    }

    /// Who sent the request; nil for endpoints that are public.
    package var caller: Caller? {
        get { unsafe state.admission?.caller }
        set { admission.caller = newValue }
    }

    /// The rate limits that the request was charged to, as far as a later one may refuse it.
    package var limitCharges: [LimitCharge] {
        get { unsafe state.admission?.limitCharges ?? [] }
        set { admission.limitCharges = newValue }
    }

    /// Take back what the limits that replicas share have charged, as far as a later limit may refuse
    /// the request.
    package var limitRefunds: [() -> Void] {
        get { unsafe state.admission?.limitRefunds ?? [] }
        set { admission.limitRefunds = newValue }
    }

    /// Removes the charges, after they were taken back. Allocates nothing for a request that has none: a
    /// flood of refusals costs little.
    package func forgetLimitCharges() {
        guard let admission = unsafe state.admission else { return }
        admission.limitCharges = []
        admission.limitRefunds = []
    }

    /// What is sent piece by piece behind the head of the response; nil before the head, and for a
    /// response that is written whole.
    package var stream: StreamKind? {
        get { unsafe state.stream }
        set { unsafe state.stream = newValue }
    }

    /// Where interim responses to the request go; nil after its end, and where there is no client.
    package var interim: (any InterimSink)? {
        get { unsafe state.interim }
        set { unsafe state.interim = newValue }
    }

    private struct State {
        var requestReceived: Instant
        var interim: (any InterimSink)?
        var deadline = Exchange.noDeadline
        var endpoint: Int?
        var origin: AnyObject?
        var stream: StreamKind?
        var callPermit: Permit?
        var responseFields: Fields
        var refusal: RefusalReason?
        var refusalCause: RefusalCause?
        var rejection: StaticString?
        /// Nil until access control or a rate limit has a value to record.
        var admission: Admission?
    }

    /// What access control and rate limits record about a request. An object of its own, so that the
    /// exchanges of endpoints without them have one reference instead of several.
    private final class Admission {
        var caller: Caller?
        var limitCharges: [LimitCharge] = []
        var limitRefunds: [() -> Void] = []
    }

    /// Created with the first value that is recorded.
    private var admission: Admission {
        if let admission = unsafe state.admission { return admission }
        let admission = Admission()
        unsafe state.admission = admission
        return admission
    }

    /// Unchecked: no access calls other code. Private, since the attribute has no effect in other
    /// modules, which read it through functions.
    @exclusivity(unchecked) private var state: State
    /// Reserved for this exchange, in bytes.
    private var reservedBytes = 0
    private var hasEnded = false

    /// Empty after the end. Unchecked: the list is taken out before a permit is released.
    @exclusivity(unchecked) private var permits: [Permit] = []

    /// An exchange whose peer is only known as text.
    ///
    /// - Parameter budget: limits the memory of this exchange
    package convenience init(
        id: RequestID, trace: TraceContext, local: LocalContext, began: Instant,
        client: String? = nil, responseFields: Fields = Fields(), budget: ByteBudget? = nil
    ) {
        self.init(
            id: id, trace: trace, began: began,
            peer: PeerAddress(text: client, bits: .unknown), responseFields: responseFields,
            resources: ExchangeResources(local: local, budget: budget))
    }

    /// - Parameter resources: those of the worker
    package init(
        id: RequestID, trace: TraceContext, began: Instant, peer: PeerAddress,
        responseFields: Fields = Fields(), resources: ExchangeResources
    ) {
        self.id = id
        self.trace = trace
        self.resources = resources
        self.began = began
        self.peer = peer
        record = resources.records?.take(began: began) ?? RequestRecord(began: began)
        unsafe state = State(requestReceived: began, responseFields: responseFields)
    }

    deinit {
        end()
        resources.records?.give(record)
    }

    /// The response is sent, or the request was cancelled: releases the permits and the bytes.
    package func end() {
        guard !hasEnded else { return }
        hasEnded = true
        resources.budget?.release(reservedBytes)
        releasePermits()
    }

    /// The response lies in the connection, and little of it waits for the client: releases the
    /// permits, which must not depend on how a client reads.
    package func releasePermits() {
        guard unsafe !permits.isEmpty else { return }
        // A release may start other work, which must not find the permits again.
        let held = unsafe permits
        unsafe permits = []
        for permit in held { permit.release() }
    }

    /// The connection counts the bytes of the response from now on.
    ///
    /// - Parameter count: of the request, which the exchange still holds, in bytes
    package func releaseMemory(keeping count: Int) {
        guard !hasEnded, reservedBytes > count else { return }
        resources.budget?.release(reservedBytes - count)
        reservedBytes = count
    }

    /// The requests in flight of the client; 0 if they are not limited.
    package var requestsOfClient: Int { peer.requests?.value ?? 0 }

    /// It counts among the requests in flight of its client from now on.
    package func countRequest() { peer.requests?.increment() }

    /// It counts no longer.
    package func uncountRequest() { peer.requests?.decrement() }

    /// The permit of the call that is passed through, before its response.
    package var callPermit: Permit? {
        get { unsafe state.callPermit }
        set { unsafe state.callPermit = newValue }
    }

    /// The worst shortage of the limits whose permits it holds.
    package var shortage: Shortage {
        var worst = unsafe state.callPermit?.shortage ?? .none
        for permit in unsafe permits { worst = max(worst, permit.shortage ?? .none) }
        return worst
    }

    /// Permits are short: ends exchanges that wait for their clients.
    package func makeRoom() { resources.makeRoom?() }

    /// Holds a permit until the response lies in the connection, or this exchange ends; releases it at
    /// once after the end.
    package func holdPermit(_ permit: Permit) {
        if hasEnded { permit.release() } else { unsafe permits.append(permit) }
    }

    /// Reserves memory for this exchange until its end; false if the worker's budget is exhausted.
    package func reserve(_ count: Int) -> Bool {
        guard let budget = resources.budget, !hasEnded else { return true }
        guard budget.reserve(count) else { return false }
        // Reclaiming memory may have ended this exchange.
        guard !hasEnded else {
            budget.release(count)
            return true
        }
        reservedBytes += count
        return true
    }
}
