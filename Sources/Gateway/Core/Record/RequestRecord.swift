package import Basics
package import HTTP

/// What happened to one request and its calls, and when: recorded once, while it runs, and read by
/// everything that shows requests (`server_timing`, `explain --run`, access log, metrics).
///
/// Owned by its exchange, confined to its worker; it comes from the worker's `RequestRecordPool` and
/// keeps the memory of its arrays, so that recording allocates nothing in the steady state. It serves
/// another request after its exchange is released: what refers to a record also retains the exchange,
/// and a reader that keeps something of a record copies it.
///
/// Moments never go back: one that is before the latest recorded one counts as that.
package final class RequestRecord {
    /// When the head was complete.
    package private(set) var began: Instant
    /// Nil before and without a match.
    package private(set) var endpoint: RecordedEndpoint?
    package private(set) var times = RequestTimes()
    /// What the request waits for.
    package private(set) var phase = RequestTimes.Phase.own
    /// When the phase began.
    private var phaseBegan: UInt32 = 0
    private var latest: UInt32 = 0
    /// When the response was made, before it was held back.
    package private(set) var answered = Moment.never
    package private(set) var ended = Moment.never
    /// When the head of a response that is sent part by part was sent.
    package private(set) var firstPart = Moment.never
    package private(set) var callsInFlight = 0
    /// The response lacks parts of calls that failed.
    package var isPartial = false
    /// A call has a streamed response.
    private var isStreamed = false
    /// Of the request's body, in bytes.
    package var bodyBytes = 0

    /// By call index; empty before the endpoint is known.
    package private(set) var calls: [CallRecord] = []
    /// In the order in which they began.
    package private(set) var attempts: [AttemptRecord] = []
    /// In the order in which they were recorded; empty without a failure.
    package private(set) var details: [FailureDetail] = []
    /// Of calls with a list; empty for most requests.
    package private(set) var lists: [ListRecord] = []

    package init(began: Instant = Instant(nanoseconds: 0)) { self.began = began }

    /// The status of the response that decided a call; 0 if it has none.
    package func status(ofCall index: Int) -> UInt16 {
        guard let deciding = calls[index].decidingAttempt else { return 0 }
        return attempts[Int(deciding)].status
    }

    /// What happened to a call; nil if the endpoint has no such call, or is not known.
    package func call(_ index: Int) -> CallRecord? {
        calls.indices.contains(index) ? calls[index] : nil
    }

    /// From the head to the last byte handed to the kernel; nil before the end.
    package var duration: Duration? { ended.since(Moment(microseconds: 0)) }

    /// The moment of the record that corresponds to an instant.
    package func moment(_ instant: Instant) -> Moment {
        // Not by `Duration`, whose conversion is slower.
        let (nanoseconds, _) = instant.nanoseconds.subtractingReportingOverflow(
            began.nanoseconds)
        let microseconds = nanoseconds / 1_000
        // One below the number that means `never`.
        return Moment(microseconds: UInt32(clamping: min(microseconds, Int64(UInt32.max) - 1)))
    }

    private func next(_ instant: Instant) -> Moment {
        let moment = moment(instant)
        if moment.microseconds > latest { latest = moment.microseconds }
        return Moment(microseconds: latest)
    }

    // MARK: The request

    /// Empties the record for another request.
    func reset(began: Instant) {
        self.began = began
        endpoint = nil
        times = RequestTimes()
        phase = .own
        phaseBegan = 0
        latest = 0
        answered = .never
        ended = .never
        firstPart = .never
        callsInFlight = 0
        isPartial = false
        isStreamed = false
        bodyBytes = 0
        calls.removeAll(keepingCapacity: true)
        attempts.removeAll(keepingCapacity: true)
        if !details.isEmpty { details.removeAll() }
        if !lists.isEmpty { lists.removeAll() }
    }

    /// The endpoint is known. Called at most once.
    package func enter(_ endpoint: RecordedEndpoint) {
        guard self.endpoint == nil else { return }
        self.endpoint = endpoint
        for _ in endpoint.calls { calls.append(CallRecord()) }
    }

    /// The rest of the body is awaited.
    package func bodyAwaited(at now: Instant) { change(to: .receiving, at: next(now)) }

    /// The body is complete, or its rest cannot be read.
    package func bodyEnded(at now: Instant) { change(to: .own, at: next(now)) }

    /// The decision of the store about the rate limits is awaited.
    package func storeAwaited(at now: Instant) { change(to: .store, at: next(now)) }

    /// The keys of an issuer are awaited.
    package func keysAwaited(at now: Instant) { change(to: .keys, at: next(now)) }

    /// The wait for the store or for keys is over; without effect if there was none.
    package func decisionMade(at now: Instant) {
        guard phase == .store || phase == .keys else { return }
        change(to: .own, at: next(now))
    }

    /// The response of the endpoint is made: calls that still run are cancelled, and a padded endpoint
    /// holds the response back from now on.
    ///
    /// - Parameter isStreamed: its body still comes from a backend, so that the rest of the time belongs
    ///   to a call
    package func responseMade(at now: Instant, isStreamed: Bool = false) {
        let now = next(now)
        answered = now
        endCalls(at: now)
        change(
            to: isStreamed ? .calling : endpoint?.isPadded ?? false ? .held : .own, at: now)
    }

    /// The head of a response that is sent part by part is sent now.
    package func firstPartMade(at now: Instant) { firstPart = next(now) }

    /// The response is being held back.
    package var isHeld: Bool { phase == .held }

    /// The response is held back no longer.
    package func responseReleased(at now: Instant) { change(to: .own, at: next(now)) }

    /// The request is over.
    package func end(at now: Instant) {
        guard !ended.hasHappened else { return }
        let now = next(now)
        endCalls(at: now)
        if isStreamed { endStreams(at: now) }
        change(to: .own, at: now)
        ended = now
        assert(attempts.allSatisfy(\.ended.hasHappened), "an attempt has no end")
        assert(callsInFlight == 0, "a call outlives its request")
        assert(timesAddUp, "the times of a request are not its duration")
    }

    /// Whether the phases cover the duration, and the time of calls equals the time in their records. For
    /// assertions.
    private var timesAddUp: Bool {
        let sum = RequestTimes.Phase.allCases.reduce(0) { $0 &+ times.microseconds($1) }
        guard sum == ended.microseconds else { return false }
        if isStreamed { return true }
        var (covered, reached) = (UInt32(0), UInt32(0))
        for call in calls.filter(\.began.hasHappened).sorted(by: { $0.began < $1.began }) {
            covered += max(call.ended.microseconds, reached) - max(call.began.microseconds, reached)
            reached = max(call.ended.microseconds, reached)
        }
        return covered == times.microseconds(.calling)
    }

    private func change(to phase: RequestTimes.Phase, at now: Moment) {
        guard !ended.hasHappened else { return }
        assert(now.microseconds >= phaseBegan, "a phase ends before it began")
        times.add(now.microseconds - phaseBegan, to: self.phase)
        self.phase = phase
        phaseBegan = now.microseconds
    }

    // MARK: Calls

    /// A call's request is built and goes through its chain.
    package func beginCall(_ call: Int, at now: Instant) {
        guard calls.indices.contains(call), !answered.hasHappened else {
            return
        }
        let now = next(now)
        calls[call].began = now
        callsInFlight += 1
        assert(hasConsistentCalls, "a call begins twice")
        if callsInFlight == 1 { change(to: .calling, at: now) }
    }

    /// A call has a list.
    package func recordList(_ list: ListRecord) { lists.append(list) }

    /// So many elements of a list have failed.
    ///
    /// - Parameter responses: the attempts whose responses were no values for them
    func recordFailedElements(_ count: Int, of call: Int, responses: [Int]) {
        for attempt in responses { attempts[attempt].failsElements = true }
        guard let index = lists.firstIndex(where: { $0.call == call }) else { return }
        lists[index].failed = count
    }

    /// A call has its part, or failed: also without having begun, or after it had succeeded, if its
    /// part could not be used.
    ///
    /// - Parameters:
    ///   - attempt: the attempt whose response was used; nil if the call has no response
    ///   - detail: why it failed, for operators
    package func endCall(
        _ call: Int, _ outcome: CallRecord.Outcome, deciding attempt: Int? = nil,
        detail: String? = nil, at now: Instant
    ) {
        guard calls.indices.contains(call) else { return }
        var before = calls[call]
        // The calls that run when the response is made have been ended as cancelled.
        if answered.hasHappened, before.ended.hasHappened { return }
        if let detail { record(detail, of: UInt16(clamping: call), nil) }
        let now = next(now)
        guard !before.ended.hasHappened else {
            calls[call].outcome = outcome
            return
        }
        if let attempt { before.decidingAttempt = UInt16(clamping: attempt) }
        end(call, before, outcome, at: now)
    }

    /// The head of a call's response has arrived, whose body is streamed from now on.
    ///
    /// - Parameter attempt: the attempt whose response it is
    package func beginStream(of call: Int, deciding attempt: Int?, at now: Instant) {
        guard calls.indices.contains(call), calls[call].isInFlight else {
            return
        }
        let now = next(now)
        calls[call].end(.none, at: now)
        calls[call].decidingAttempt = attempt.map { UInt16(clamping: $0) }
        isStreamed = true
        callsInFlight -= 1
        if callsInFlight == 0 { change(to: .own, at: now) }
    }

    /// The streamed response of a call has ended: decides its attempt, and with it the call.
    ///
    /// - Parameter failure: why it ended early; nil if it is complete, or if its end says nothing about
    ///   the backend
    package func endStream(of call: Int, _ failure: CallFailureKind?, at now: Instant) {
        guard calls.indices.contains(call), calls[call].isStreamed else {
            return
        }
        decideStream(of: call, failure, at: next(now))
    }

    private func decideStream(of call: Int, _ failure: CallFailureKind?, at now: Moment) {
        var outcome = failure.map { AttemptRecord.Outcome.failed($0) } ?? .withdrawn
        if let attempt = calls[call].decidingAttempt.map({ Int($0) }) {
            if isOpen(attempt) { attempts[attempt].end(outcome, at: now) }
            outcome = attempts[attempt].outcome
        }
        if case .failed(let kind) = outcome {
            calls[call].outcome = .failed(kind)
        } else {
            calls[call].outcome = .succeeded
        }
    }

    /// Decides the streams that the end of the request leaves open.
    private func endStreams(at now: Moment) {
        for call in calls.indices where calls[call].isStreamed {
            decideStream(of: call, nil, at: now)
        }
    }

    private func endCalls(at now: Moment) {
        guard callsInFlight > 0 else { return }
        for call in calls.indices {
            let before = calls[call]
            if before.isInFlight { end(call, before, .failed(.cancelled), at: now) }
        }
    }

    private func end(
        _ call: Int, _ before: CallRecord, _ outcome: CallRecord.Outcome, at now: Moment
    ) {
        calls[call].decidingAttempt = before.decidingAttempt
        // Its only attempt has its response.
        let isDecided = before.begunAttempts == 1 && before.decidingAttempt != nil
        if before.began.hasHappened, !isDecided {
            if case .failed(let kind) = outcome {
                endAttempts(of: call, kind, at: now)
            } else {
                endAttempts(of: call, .cancelled, at: now)
            }
        }
        calls[call].end(outcome, at: now)
        guard before.isInFlight else { return }
        callsInFlight -= 1
        assert(hasConsistentCalls, "a call ends twice")
        if callsInFlight == 0 { change(to: .own, at: now) }
    }

    /// Whether as many calls are in flight as are counted. For assertions.
    private var hasConsistentCalls: Bool { callsInFlight == calls.count(where: \.isInFlight) }

    // MARK: Attempts

    /// Another attempt of a call begins; gives its place among the attempts.
    ///
    /// - Parameter replaced: the attempt whose host could not be reached; nil but for `otherHost`
    package func beginAttempt(
        of call: Int, _ cause: AttemptRecord.Cause, replacing replaced: Int? = nil, at now: Instant
    ) -> Int {
        let attempt = AttemptRecord(
            call: UInt16(clamping: call), cause: cause,
            replacing: replaced.map { UInt16(clamping: $0) }, began: next(now))
        attempts.append(attempt)
        if calls.indices.contains(call) {
            calls[call].begunAttempts &+= 1
        }
        return attempts.count - 1
    }

    /// The attempt at this place, or the last one that replaced it on another host; nil if there is
    /// none.
    package func lastAttempt(replacing first: Int) -> AttemptRecord? {
        guard attempts.indices.contains(first) else { return nil }
        var last = first
        for place in first..<attempts.count
        where attempts[place].replaced.map({ Int($0) }) == last {
            last = place
        }
        return attempts[last]
    }

    /// The attempt has its permit, and a host.
    package func permitAttempt(_ attempt: Int, host: Int, spanID: UInt64, at now: Instant) {
        guard isOpen(attempt) else { return }
        let now = next(now)
        attempts[attempt].permit(UInt16(clamping: host), spanID, at: now)
    }

    /// The request of an attempt is written to a connection.
    package func attemptSent(
        _ attempt: Int, _ version: HTTPVersion = .http11, bodyBytes: Int = 0,
        reusingConnection: Bool, at now: Instant
    ) {
        guard isOpen(attempt) else { return }
        let now = next(now)
        attempts[attempt].send(
            version, bodyBytes: UInt32(clamping: bodyBytes), reusingConnection: reusingConnection,
            at: now)
    }

    /// The head of the response is there.
    package func attemptAnswered(_ attempt: Int, status: UInt16, at now: Instant) {
        guard isOpen(attempt) else { return }
        let now = next(now)
        attempts[attempt].answer(status, at: now)
    }

    /// The response is complete.
    package func attemptCompleted(_ attempt: Int, bodyBytes: Int, at now: Instant) {
        guard isOpen(attempt) else { return }
        let now = next(now)
        attempts[attempt].complete(UInt32(clamping: bodyBytes), at: now)
    }

    /// The attempt failed, or was cancelled.
    ///
    /// - Parameter detail: why, for operators
    package func attemptFailed(
        _ attempt: Int, _ kind: CallFailureKind, detail: String? = nil, at now: Instant
    ) {
        guard isOpen(attempt) else { return }
        fail(attempt, kind, detail, at: next(now))
    }

    /// The response of an attempt, complete or not, cannot be used, for this reason.
    ///
    /// - Parameter detail: why, for operators
    package func attemptRefused(
        _ attempt: Int, _ kind: CallFailureKind, detail: String? = nil, at now: Instant
    ) {
        guard attempts.indices.contains(attempt) else { return }
        fail(attempt, kind, detail, at: next(now))
    }

    private func fail(
        _ attempt: Int, _ kind: CallFailureKind, _ detail: String? = nil, at now: Moment
    ) {
        attempts[attempt].fail(kind, at: now)
        if let detail {
            record(detail, of: attempts[attempt].call, UInt16(clamping: attempt))
        }
        guard !attempts[attempt].permitted.hasHappened else { return }
        let call = Int(attempts[attempt].call)
        if calls.indices.contains(call) {
            calls[call].refusedAttempts &+= 1
        }
    }

    /// Ends all open attempts of a call.
    package func endAttempts(of call: Int, _ kind: CallFailureKind, at now: Instant) {
        endAttempts(of: call, kind, at: next(now))
    }

    /// Ends the attempts that a call leaves open: those that lost against another one, and one in the
    /// queue for a permit when the call failed.
    private func endAttempts(of call: Int, _ kind: CallFailureKind, at now: Moment) {
        for index in attempts.indices
        where Int(attempts[index].call) == call && isOpen(index) {
            fail(index, kind, at: now)
        }
    }

    private func isOpen(_ attempt: Int) -> Bool {
        attempts.indices.contains(attempt)
            && !attempts[attempt].ended.hasHappened
    }

    // MARK: Details of failures

    private func record(_ text: String, of call: UInt16, _ attempt: UInt16?) {
        details.append(FailureDetail(call: call, attempt: attempt, text))
    }

    /// Why a call failed; nil without a failure or a text for it.
    package func detail(of call: Int) -> Bytes? {
        guard case .failed(let kind)? = self.call(call)?.outcome else { return nil }
        return details.last { detail in
            guard Int(detail.call) == call else { return false }
            guard let attempt = detail.attempt else { return true }
            // An earlier attempt may have failed for another reason.
            return attempts[Int(attempt)].outcome == .failed(kind)
        }?.text
    }
}
