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
    package let local: LocalContext

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

    /// The peer's address and port as text; nil on a unix socket, and if it is unknown.
    package var client: String? { peer.text }

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

    /// Who sent the request; nil for endpoints that are public.
    package var caller: Caller? {
        get { unsafe state.caller }
        set { unsafe state.caller = newValue }
    }

    /// The rate limits that the request was charged to, as far as a later one may refuse it.
    package var limitCharges: [LimitCharge] {
        get { unsafe state.limitCharges }
        set { unsafe state.limitCharges = newValue }
    }

    /// Take back what the limits that replicas share have charged, as far as a later limit may refuse
    /// the request.
    package var limitRefunds: [() -> Void] {
        get { unsafe state.limitRefunds }
        set { unsafe state.limitRefunds = newValue }
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
        var responseFields: Fields
        var refusal: RefusalReason?
        var refusalCause: RefusalCause?
        var caller: Caller?
        var limitCharges: [LimitCharge] = []
        var limitRefunds: [() -> Void] = []
    }

    /// Unchecked: no access calls other code. Private, since the attribute has no effect in other
    /// modules, which read it through functions.
    @exclusivity(unchecked) private var state: State
    /// Receives the record in the end; nil for a record that was created for this exchange.
    private let records: RequestRecordPool?

    /// Nil without a limit, and after the end.
    private var budget: ByteBudget?
    private var reservedBytes = 0

    /// Nil after the end. Unchecked: the list is taken out before a permit is released.
    @exclusivity(unchecked) private var permits: [Permit]? = []

    /// An exchange whose peer is only known as text.
    package convenience init(
        id: RequestID, trace: TraceContext, local: LocalContext, began: Instant,
        client: String? = nil, responseFields: Fields = Fields(),
        budget: ByteBudget? = nil, records: RequestRecordPool? = nil
    ) {
        self.init(
            id: id, trace: trace, local: local, began: began,
            peer: PeerAddress(text: client, bits: .unknown), responseFields: responseFields,
            budget: budget, records: records)
    }

    /// - Parameters:
    ///   - budget: limits the memory of this exchange
    ///   - records: those of the worker
    package init(
        id: RequestID, trace: TraceContext, local: LocalContext, began: Instant,
        peer: PeerAddress, responseFields: Fields = Fields(),
        budget: ByteBudget? = nil, records: RequestRecordPool? = nil
    ) {
        self.id = id
        self.trace = trace
        self.local = local
        self.began = began
        self.peer = peer
        self.budget = budget
        self.records = records
        record = records?.take(began: began) ?? RequestRecord(began: began)
        unsafe state = State(requestReceived: began, responseFields: responseFields)
    }

    deinit {
        end()
        records?.give(record)
    }

    /// The response is sent, or the request was cancelled: releases the permits and the bytes.
    package func end() {
        budget.take()?.release(reservedBytes)
        // A release may start other work, which must not find the permits again.
        guard let permits = unsafe permits.take() else { return }
        for permit in permits { permit.release() }
    }

    /// Holds a permit until this exchange ends; releases it at once after the end.
    package func holdUntilEnd(_ permit: Permit) {
        if unsafe permits?.append(permit) == nil { permit.release() }
    }

    /// Reserves memory for this exchange until its end; false if the worker's budget is exhausted.
    package func reserve(_ count: Int) -> Bool {
        guard let budget else { return true }
        guard budget.reserve(count) else { return false }
        // Reclaiming memory may have ended this exchange.
        guard self.budget != nil else {
            budget.release(count)
            return true
        }
        reservedBytes += count
        return true
    }
}
