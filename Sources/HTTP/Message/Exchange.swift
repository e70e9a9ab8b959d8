package import Basics
package import Promises

/// One client request until the end of its response: the state that everything that works on it
/// shares.
///
/// Created by the server when the head is complete, confined to its worker.
///
/// An embedder that knows more about a request than HTTP does makes its exchanges instances of a
/// subclass (`ServerHooks.makeExchange`). Open, because Swift has no subclasses of `package` classes in
/// other modules; everything else of it is visible in this package only.
open class Exchange: MemoryOwner {
    /// Identifies this request in the response, the log and requests to the backends.
    package final let id: RequestID

    /// The trace that this request belongs to.
    package final let trace: TraceContext

    /// Makes promises on this exchange's worker.
    package final var local: LocalContext { resources.local }

    private let resources: ExchangeResources

    /// Limits the memory of the worker; nil without a limit. For a buffer that counts its own bytes,
    /// because it is emptied before the end of the exchange.
    package final var budget: ByteBudget? { resources.budget }

    /// When the head was complete.
    package final let began: Instant

    /// When the request was received completely, or its body failed; `began` for a request without
    /// a body. Deadlines and minimum durations count from here.
    package final var requestReceived: Instant

    package final let peer: PeerAddress

    /// Extra header fields for every response to this request; first the fields of
    /// `ServerSettings.responseFields`.
    package final var responseFields: Fields

    /// Why the server responded instead of the service, or could not read the body, for the access
    /// log; nil if it did not.
    package final var rejection: StaticString?

    /// What is sent piece by piece after the head of the response; nil before the head, and for a
    /// response that is written whole.
    package final var stream: StreamKind?

    /// Why the response ended before its last byte, after its head had been sent; nil if it is complete.
    package final var streamEnd: StreamEnd?

    /// The streamed response ends before its last byte. The first reason is kept.
    package final func streamEnded(_ reason: StreamEnd) {
        if streamEnd == nil { streamEnd = reason }
    }

    /// Where interim responses to the request go; nil after its end, and where there is no client.
    package final var interim: (any InterimSink)?

    /// Reserved for this exchange, in bytes.
    private var reservedBytes = 0
    private var hasEnded = false

    /// Empty after the end.
    private var permits: [Permit] = []

    package init(_ start: consuming ExchangeStart) {
        id = start.id
        trace = start.trace
        resources = start.resources
        began = start.began
        peer = start.peer
        requestReceived = start.began
        responseFields = start.responseFields
    }

    deinit {
        end()
    }

    /// The response is sent, or the request was cancelled: releases the permits and the bytes.
    package final func end() {
        guard !hasEnded else { return }
        assert(reservedBytes >= 0, "an exchange holds fewer bytes than none")
        hasEnded = true
        resources.budget?.release(reservedBytes)
        releasePermits()
    }

    /// The response lies in the connection, and little of it waits for the client: releases the
    /// permits, which must not depend on how a client reads.
    package final func releasePermits() {
        guard !permits.isEmpty else { return }
        // A release may start other work, which must not find the permits again.
        let held = permits
        permits = []
        for permit in held { permit.release() }
    }

    /// The connection counts the bytes of the response from now on.
    ///
    /// - Parameter count: of the request, which the exchange still holds, in bytes
    package final func releaseMemory(keeping count: Int) {
        assert(count >= 0, "a request of fewer bytes than none")
        guard !hasEnded, reservedBytes > count else { return }
        resources.budget?.release(reservedBytes - count)
        reservedBytes = count
    }

    /// The requests in flight of the client; 0 if they are not limited.
    package final var requestsOfClient: Int { peer.requests?.value ?? 0 }

    /// It counts among the requests in flight of its client from now on.
    package final func countRequest() { peer.requests?.increment() }

    /// It counts no longer.
    package final func uncountRequest() { peer.requests?.decrement() }

    /// The permit of the call that is passed through, before its response.
    package final var callPermit: Permit?

    /// The worst shortage of the limits whose permits it holds.
    package final var shortage: Shortage {
        var worst = callPermit?.shortage ?? .none
        for permit in permits { worst = max(worst, permit.shortage ?? .none) }
        return worst
    }

    /// Permits are short: ends exchanges that wait for their clients.
    package final func makeRoom() { resources.makeRoom?() }

    /// Holds a permit until the response lies in the connection, or this exchange ends; releases it at
    /// once after the end.
    package final func holdPermit(_ permit: Permit) {
        assert(permit.isHeld, "a permit is held after its release")
        assert(permits.allSatisfy { $0 !== permit }, "a permit is held twice")
        if hasEnded { permit.release() } else { permits.append(permit) }
    }

    /// Reserves memory for this exchange until its end; false if the worker's budget is exhausted.
    package final func reserve(_ count: Int) -> Bool {
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

/// What is known about a request when its head is complete: the parts of its exchange.
package struct ExchangeStart {
    package let id: RequestID
    package let trace: TraceContext
    package let began: Instant
    package let peer: PeerAddress
    package let responseFields: Fields
    let resources: ExchangeResources

    /// - Parameter resources: of the worker
    package init(
        id: RequestID, trace: TraceContext, began: Instant, peer: PeerAddress,
        responseFields: Fields = Fields(), resources: ExchangeResources
    ) {
        self.id = id
        self.trace = trace
        self.began = began
        self.peer = peer
        self.responseFields = responseFields
        self.resources = resources
    }

    /// A request whose peer is only known as text.
    ///
    /// - Parameter budget: limits the memory of the exchange
    package init(
        id: RequestID, trace: TraceContext, local: LocalContext, began: Instant,
        client: String? = nil, responseFields: Fields = Fields(), budget: ByteBudget? = nil
    ) {
        self.init(
            id: id, trace: trace, began: began,
            peer: PeerAddress(text: client, bits: .unknown), responseFields: responseFields,
            resources: ExchangeResources(local: local, budget: budget))
    }
}
