package import Basics

/// What happened to one request and its calls, and when: recorded once, while it runs, and read by
/// everything that shows requests (`server_timing`, `explain --run`, access log, metrics).
///
/// Owned by its exchange, confined to its worker; it comes from the worker's `RequestRecordPool` and
/// keeps the memory of its arrays, so that recording allocates nothing in the steady state. After the
/// exchange has ended, nothing can reach it through the exchange any more. A reader that keeps
/// something of a record copies it.
///
/// Moments never go back: one that is before the latest recorded one counts as that.
package final class RequestRecord {
    // Unchecked, all of them: no access calls other code.

    /// When the head was complete.
    @exclusivity(unchecked) package private(set) var began: Instant
    /// Nil before and without a match.
    @exclusivity(unchecked) package private(set) var endpoint: RecordedEndpoint?
    /// By call index; empty before the endpoint is known.
    @exclusivity(unchecked) private var callRecords: [CallRecord] = []
    /// In the order in which they began.
    @exclusivity(unchecked) private var attemptRecords: [AttemptRecord] = []
    @exclusivity(unchecked) package private(set) var times = RequestTimes()
    /// When the response was made, before it was held back.
    @exclusivity(unchecked) package private(set) var answered = Moment.never
    @exclusivity(unchecked) package private(set) var ended = Moment.never
    /// The response lacks parts of calls that failed.
    @exclusivity(unchecked) package var isPartial = false
    /// Of the request's body, in bytes.
    @exclusivity(unchecked) package var bodyBytes = 0

    @exclusivity(unchecked) private var phase = RequestTimes.Phase.own
    /// When the phase began.
    @exclusivity(unchecked) private var phaseBegan: UInt32 = 0
    @exclusivity(unchecked) private var latest: UInt32 = 0
    @exclusivity(unchecked) package private(set) var callsInFlight = 0

    package init(began: Instant = Instant(nanoseconds: 0)) {
        unsafe self.began = began
    }

    package var calls: [CallRecord] { unsafe callRecords }
    package var attempts: [AttemptRecord] { unsafe attemptRecords }

    /// What happened to a call; nil if the endpoint has no such call, or is not known.
    package func call(_ index: Int) -> CallRecord? {
        unsafe callRecords.indices.contains(index) ? callRecords[index] : nil
    }

    /// From the head to the last byte handed to the kernel; nil before the end.
    package var duration: Duration? { unsafe ended.since(Moment(microseconds: 0)) }

    /// The moment of the record that corresponds to an instant.
    package func moment(_ instant: Instant) -> Moment {
        let microseconds = unsafe (instant - began).inNanoseconds / 1_000
        // One below the number that means `never`.
        return Moment(microseconds: UInt32(clamping: min(microseconds, Int64(UInt32.max) - 1)))
    }

    private func next(_ instant: Instant) -> Moment {
        let moment = moment(instant)
        if unsafe moment.microseconds > latest { unsafe latest = moment.microseconds }
        return unsafe Moment(microseconds: latest)
    }

    // MARK: The request

    /// Empties the record for another request.
    func reset(began: Instant) {
        unsafe self.began = began
        unsafe endpoint = nil
        unsafe callRecords.removeAll(keepingCapacity: true)
        unsafe attemptRecords.removeAll(keepingCapacity: true)
        unsafe times = RequestTimes()
        unsafe answered = .never
        unsafe ended = .never
        unsafe isPartial = false
        unsafe bodyBytes = 0
        unsafe phase = .own
        unsafe phaseBegan = 0
        unsafe latest = 0
        unsafe callsInFlight = 0
    }

    /// The endpoint is known.
    package func enter(_ endpoint: RecordedEndpoint) {
        unsafe self.endpoint = endpoint
        unsafe callRecords.removeAll(keepingCapacity: true)
        for _ in endpoint.calls { unsafe callRecords.append(CallRecord()) }
    }

    /// The rest of the body is awaited.
    package func bodyAwaited(at now: Instant) { change(to: .receiving, at: next(now)) }

    /// The body is complete, or its rest cannot be read.
    package func bodyEnded(at now: Instant) { change(to: .own, at: next(now)) }

    /// The response of the endpoint is made: calls that still run are cancelled, and a padded endpoint
    /// holds the response back from now on.
    package func responseMade(at now: Instant) {
        let now = next(now)
        unsafe answered = now
        endCalls(at: now)
        change(to: unsafe endpoint?.isPadded ?? false ? .held : .own, at: now)
    }

    /// The response is being held back.
    package var isHeld: Bool { unsafe phase == .held }

    /// The response is held back no longer.
    package func responseReleased(at now: Instant) { change(to: .own, at: next(now)) }

    /// The request is over.
    package func end(at now: Instant) {
        guard unsafe !ended.hasHappened else { return }
        let now = next(now)
        endCalls(at: now)
        change(to: .own, at: now)
        unsafe ended = now
    }

    private func change(to phase: RequestTimes.Phase, at now: Moment) {
        guard unsafe !ended.hasHappened else { return }
        unsafe times.add(now.microseconds - phaseBegan, to: self.phase)
        unsafe self.phase = phase
        unsafe phaseBegan = now.microseconds
    }

    // MARK: Calls

    /// A call's request is built and goes through its chain.
    package func beginCall(_ call: Int, at now: Instant) {
        guard unsafe callRecords.indices.contains(call), unsafe !answered.hasHappened else {
            return
        }
        let now = next(now)
        unsafe callRecords[call].began = now
        unsafe callsInFlight += 1
        if unsafe callsInFlight == 1 { change(to: .calling, at: now) }
    }

    /// A call has its part, or failed: also without having begun, or after it had succeeded, if its
    /// part could not be used.
    package func endCall(_ call: Int, _ outcome: CallRecord.Outcome, at now: Instant) {
        guard unsafe callRecords.indices.contains(call) else { return }
        // The calls that run when the response is made have been ended as cancelled.
        if unsafe answered.hasHappened, unsafe callRecords[call].ended.hasHappened { return }
        let now = next(now)
        unsafe callRecords[call].outcome = outcome
        guard unsafe !callRecords[call].ended.hasHappened else { return }
        if unsafe callRecords[call].began.hasHappened {
            if case .failed(let kind) = outcome {
                endAttempts(of: call, kind, at: now)
            } else {
                endAttempts(of: call, .cancelled, at: now)
            }
        }
        finish(call, at: now)
    }

    private func endCalls(at now: Moment) {
        for call in unsafe callRecords.indices where unsafe callRecords[call].isInFlight {
            unsafe callRecords[call].outcome = .failed(.cancelled)
            endAttempts(of: call, .cancelled, at: now)
            finish(call, at: now)
        }
    }

    private func finish(_ call: Int, at now: Moment) {
        let wasInFlight = unsafe callRecords[call].isInFlight
        unsafe callRecords[call].ended = now
        guard wasInFlight else { return }
        unsafe callsInFlight -= 1
        if unsafe callsInFlight == 0 { change(to: .own, at: now) }
    }

    // MARK: Attempts

    /// Another attempt of a call begins; gives its place among the attempts.
    package func beginAttempt(
        of call: Int, _ cause: AttemptRecord.Cause, at now: Instant
    ) -> Int {
        let attempt = AttemptRecord(
            call: UInt16(clamping: call), cause: cause, began: next(now))
        unsafe attemptRecords.append(attempt)
        if unsafe callRecords.indices.contains(call) {
            unsafe callRecords[call].attempts &+= 1
        }
        return unsafe attemptRecords.count - 1
    }

    /// The attempt has its permit, and a host.
    package func permitAttempt(_ attempt: Int, host: Int, spanID: UInt64, at now: Instant) {
        guard isOpen(attempt) else { return }
        unsafe attemptRecords[attempt].permitted = next(now)
        unsafe attemptRecords[attempt].host = UInt16(clamping: host)
        unsafe attemptRecords[attempt].spanID = spanID
    }

    /// The request of an attempt is written to a connection.
    package func attemptSent(_ attempt: Int, reusingConnection: Bool, at now: Instant) {
        guard isOpen(attempt) else { return }
        unsafe attemptRecords[attempt].wasResent = attemptRecords[attempt].sent.hasHappened
        unsafe attemptRecords[attempt].sent = next(now)
        unsafe attemptRecords[attempt].reusedConnection = reusingConnection
    }

    /// The head of the response is there.
    package func attemptAnswered(_ attempt: Int, status: UInt16, at now: Instant) {
        guard isOpen(attempt) else { return }
        unsafe attemptRecords[attempt].firstByte = next(now)
        unsafe attemptRecords[attempt].status = status
    }

    /// The response is complete.
    package func attemptCompleted(_ attempt: Int, bodyBytes: Int, at now: Instant) {
        guard isOpen(attempt) else { return }
        let now = next(now)
        unsafe attemptRecords[attempt].lastByte = now
        unsafe attemptRecords[attempt].ended = now
        unsafe attemptRecords[attempt].outcome = .answered
        unsafe attemptRecords[attempt].bodyBytes = UInt32(clamping: bodyBytes)
        let call = unsafe Int(attemptRecords[attempt].call)
        if unsafe callRecords.indices.contains(call) {
            unsafe callRecords[call].decidingAttempt = UInt16(clamping: attempt)
        }
    }

    /// The attempt failed, or was cancelled.
    package func attemptFailed(_ attempt: Int, _ kind: CallFailureKind, at now: Instant) {
        guard isOpen(attempt) else { return }
        unsafe attemptRecords[attempt].outcome = .failed(kind)
        unsafe attemptRecords[attempt].ended = next(now)
    }

    /// Ends the attempts that a call leaves open: those that lost against another one, and one in the
    /// queue for a permit when the call failed.
    private func endAttempts(of call: Int, _ kind: CallFailureKind, at now: Moment) {
        for index in unsafe attemptRecords.indices
        where unsafe Int(attemptRecords[index].call) == call && isOpen(index) {
            unsafe attemptRecords[index].outcome = .failed(kind)
            unsafe attemptRecords[index].ended = now
        }
    }

    private func isOpen(_ attempt: Int) -> Bool {
        unsafe attemptRecords.indices.contains(attempt)
            && !attemptRecords[attempt].ended.hasHappened
    }
}
