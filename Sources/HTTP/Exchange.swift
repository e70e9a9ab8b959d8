package import Basics
package import Promises

/// One client request until its answer is out: what everything that works on it shares.
///
/// Made by the server when the head is complete, confined to its core.
@usableFromInline
package final class Exchange {
    /// Names this request in the answer, the log and towards the backends.
    package let id: RequestID

    /// The trace that this request belongs to.
    package let trace: TraceContext

    /// The capability to make promises on this exchange's core.
    package let local: LocalContext

    /// The header lines by which every backend knows this exchange, up to where the parent id of a
    /// call stands: written once, sent with each call.
    package private(set) lazy var callLines: Bytes = {
        var lines: [UInt8] = []
        lines.reserveCapacity(112)
        lines.append(literal: "X-Request-Id: ")
        lines.append(id)
        lines.append(literal: "\r\ntraceparent: ")
        lines.append(beginOf: trace)
        return Bytes(lines)
    }()

    /// When the head was complete.
    package let began: Instant

    /// When the last byte of the body was in; `began` for a request without one. Deadlines and
    /// minimum durations count from here.
    package var lastByte: Instant

    /// When the response must be ready; the end of time until the endpoint's chain sets it.
    ///
    /// Unchecked: a plain value.
    @exclusivity(unchecked) package var deadline = Instant(nanoseconds: .max)

    /// The endpoint that was matched, by the embedder's number; nil before and without a match.
    package var endpoint: Int?

    /// The peer's address and port as text; nil on a unix socket.
    package let client: String?

    /// What the embedder found out about where the request comes from, kept until its end.
    package var origin: AnyObject?

    /// Nil where nobody counts, and after the end.
    private var budget: ByteBudget?
    private var reservedBytes = 0

    /// Nil after the end. Unchecked: it is taken out before a permit is released.
    @exclusivity(unchecked) private var permits: [Permit]? = []

    /// - Parameter budget: what this exchange may hold is taken from it
    package init(
        id: RequestID, trace: TraceContext, local: LocalContext, began: Instant,
        client: String? = nil,
        budget: ByteBudget? = nil
    ) {
        self.id = id
        self.trace = trace
        self.local = local
        self.began = began
        self.lastByte = began
        self.client = client
        self.budget = budget
    }

    deinit { end() }

    /// The response is out, or the request was given up: releases the permits and the bytes.
    package func end() {
        budget.take()?.release(reservedBytes)
        // A release may start other work, which must not find the permits again.
        guard let permits = unsafe permits.take() else { return }
        for permit in permits { permit.release() }
    }

    /// Holds a permit until this exchange ends; releases it at once if that has happened.
    package func holdUntilEnd(_ permit: Permit) {
        if unsafe permits?.append(permit) == nil { permit.release() }
    }

    /// Takes room for bytes that are kept for this exchange, until its end; false where the core
    /// holds too much already.
    package func reserve(_ count: Int) -> Bool {
        guard let budget else { return true }
        guard budget.reserve(count) else { return false }
        // Freeing memory for this may have ended this very exchange.
        guard self.budget != nil else {
            budget.release(count)
            return true
        }
        reservedBytes += count
        return true
    }
}
