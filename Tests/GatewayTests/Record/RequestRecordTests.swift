import Basics
import HTTP
import Testing

@testable import Gateway

/// How a record divides the duration of a request, and what it keeps of calls and attempts.
@Suite struct RequestRecordTests {
    private let record = RequestRecord(began: Instant(nanoseconds: 5_000_000_123))

    private func at(_ microseconds: Int64) -> Instant {
        Instant(nanoseconds: 5_000_000_123 + microseconds * 1_000)
    }

    private func endpoint(calls: Int, isPadded: Bool = false) -> RecordedEndpoint {
        RecordedEndpoint(
            name: "GET /", isPadded: isPadded,
            calls: (0..<calls).map { .init(name: "c\($0)", backend: "b", hosts: ["h:80"]) })
    }

    /// Own, receiving, calling, held, in microseconds.
    private var times: [Int64] {
        [.own, .receiving, .calling, .held].map { phase in
            record.times[phase].inNanoseconds / 1_000
        }
    }

    @Test func overlappingCallsCountOnce() {
        record.enter(endpoint(calls: 2))
        record.beginCall(0, at: at(10))
        record.beginCall(1, at: at(20))
        record.endCall(0, .succeeded, at: at(40))
        record.endCall(1, .succeeded, at: at(70))
        record.responseMade(at: at(75))
        record.end(at: at(80))
        #expect(times == [20, 0, 60, 0])
        #expect(record.duration == .microseconds(80))
        #expect(
            record.calls.map { $0.ended.since($0.began) } == [.microseconds(30), .microseconds(50)])
    }

    @Test func timeBetweenCallsIsTheGatewaysOwn() {
        record.enter(endpoint(calls: 2))
        record.beginCall(0, at: at(10))
        record.endCall(0, .succeeded, at: at(20))
        record.beginCall(1, at: at(25))
        record.endCall(1, .succeeded, at: at(30))
        record.end(at: at(31))
        #expect(times == [16, 0, 15, 0])
    }

    @Test func aPaddedResponseIsHeldUntilItIsReleased() {
        record.enter(endpoint(calls: 1, isPadded: true))
        record.beginCall(0, at: at(1))
        record.endCall(0, .failed(.unexpectedStatus), at: at(5))
        record.responseMade(at: at(6))
        #expect(record.isHeld)
        record.responseReleased(at: at(400))
        record.end(at: at(403))
        #expect(times == [5, 0, 4, 394])
    }

    @Test func waitingForTheBodyIsNotTheGatewaysOwn() {
        record.enter(endpoint(calls: 1))
        record.bodyAwaited(at: at(2))
        record.bodyEnded(at: at(1_002))
        record.end(at: at(1_010))
        #expect(times == [10, 1_000, 0, 0])
    }

    @Test func waitingForTheStoreOrForKeysIsNotTheGatewaysOwn() {
        record.enter(endpoint(calls: 1))
        record.keysAwaited(at: at(2))
        record.decisionMade(at: at(52))
        record.storeAwaited(at: at(55))
        record.decisionMade(at: at(75))
        record.end(at: at(80))
        #expect(times == [10, 0, 0, 0])
        #expect(record.times[.keys] == .microseconds(50))
        #expect(record.times[.store] == .microseconds(20))
    }

    /// A decision without a wait ends no other wait.
    @Test func aDecisionWithoutAWaitChangesNothing() {
        record.enter(endpoint(calls: 1))
        record.bodyAwaited(at: at(2))
        record.decisionMade(at: at(5))
        record.bodyEnded(at: at(12))
        record.end(at: at(12))
        #expect(times == [2, 10, 0, 0])
    }

    /// The client leaves during the wait.
    @Test func aRequestThatEndsWhileItWaitsForTheStore() {
        record.enter(endpoint(calls: 1))
        record.storeAwaited(at: at(3))
        record.end(at: at(33))
        record.decisionMade(at: at(40))
        #expect(times == [3, 0, 0, 0])
        #expect(record.times[.store] == .microseconds(30))
    }

    @Test func callsThatRunWhenTheResponseIsMadeAreCancelled() {
        record.enter(endpoint(calls: 2))
        record.beginCall(0, at: at(1))
        record.beginCall(1, at: at(1))
        let attempt = record.beginAttempt(of: 1, .first, at: at(1))
        record.endCall(0, .failed(.responseTimeout), at: at(9))
        record.responseMade(at: at(9))
        // Too late: the response is made.
        record.endCall(1, .succeeded, at: at(20))
        record.attemptCompleted(attempt, bodyBytes: 3, at: at(20))
        record.end(at: at(30))
        #expect(record.calls[1].outcome == .failed(.cancelled))
        #expect(record.attempts[0].outcome == .failed(.cancelled))
        #expect(record.attempts[0].ended == Moment(microseconds: 9))
        #expect(times == [22, 0, 8, 0])
    }

    @Test func aCallThatWasNotMadeTakesNoTime() {
        record.enter(endpoint(calls: 1))
        record.endCall(0, .failed(.skipped), at: at(3))
        record.end(at: at(4))
        #expect(times == [4, 0, 0, 0])
        #expect(record.calls[0].ended.since(record.calls[0].began) == nil)
        #expect(record.calls[0].outcome == .failed(.skipped))
    }

    @Test func attemptsKeepTheirPhases() {
        record.enter(endpoint(calls: 1))
        record.beginCall(0, at: at(1))
        let first = record.beginAttempt(of: 0, .first, at: at(1))
        record.permitAttempt(first, host: 2, spanID: 7, at: at(3))
        record.attemptSent(first, reusingConnection: true, at: at(3))
        record.attemptFailed(first, .connectionTerminated, at: at(5))
        let second = record.beginAttempt(of: 0, .retry, at: at(10))
        record.permitAttempt(second, host: 0, spanID: 8, at: at(10))
        record.attemptSent(second, reusingConnection: false, at: at(12))
        record.attemptAnswered(second, status: 200, at: at(20))
        record.attemptCompleted(second, bodyBytes: 40, at: at(21))
        record.endCall(0, .succeeded, deciding: second, at: at(21))
        #expect(record.attempts.map(\.cause) == [.first, .retry])
        #expect(record.attempts.map(\.host) == [2, 0])
        #expect(record.attempts.map(\.reusedConnection) == [true, false])
        #expect(record.attempts[0].outcome == .failed(.connectionTerminated))
        #expect(record.attempts[1].outcome == .answered)
        #expect(record.attempts[1].firstByte.since(record.attempts[1].sent) == .microseconds(8))
        #expect(record.attempts[1].bodyBytes == 40 && record.attempts[1].status == 200)
        #expect(record.calls[0].attempts == 2 && record.calls[0].decidingAttempt == 1)
    }

    /// A response that is dropped because another attempt follows decides nothing.
    @Test func onlyAResponseThatIsUsedDecides() {
        record.enter(endpoint(calls: 1))
        record.beginCall(0, at: at(1))
        let first = record.beginAttempt(of: 0, .first, at: at(1))
        record.permitAttempt(first, host: 0, spanID: 7, at: at(1))
        record.attemptCompleted(first, bodyBytes: 2, at: at(3))
        let second = record.beginAttempt(of: 0, .retry, at: at(4))
        record.attemptFailed(second, .breakerOpen, at: at(4))
        record.endCall(0, .failed(.breakerOpen), at: at(4))
        #expect(record.calls[0].decidingAttempt == nil)
        #expect(record.calls[0].attempts == 1, "the breaker refused the second one")
    }

    @Test(
        arguments: [
            (nil, .withdrawn, .succeeded),
            (.responseIncomplete, .failed(.responseIncomplete), .failed(.responseIncomplete)),
        ] as [(CallFailureKind?, AttemptRecord.Outcome, CallRecord.Outcome)])
    func endOfAStreamDecidesItsCall(
        _ failure: CallFailureKind?, _ attempt: AttemptRecord.Outcome, _ call: CallRecord.Outcome
    ) {
        record.enter(endpoint(calls: 1))
        record.beginCall(0, at: at(1))
        let place = record.beginAttempt(of: 0, .first, at: at(1))
        record.permitAttempt(place, host: 0, spanID: 7, at: at(1))
        record.beginStream(of: 0, deciding: place, at: at(5))
        record.responseMade(at: at(5), isStreamed: true)
        #expect(record.calls[0].outcome == .none && record.attempts[0].outcome == .none)
        record.endStream(of: 0, failure, at: at(50))
        record.end(at: at(51))
        #expect(record.attempts[0].outcome == attempt && record.calls[0].outcome == call)
        #expect(
            record.calls[0].ended == Moment(microseconds: 5), "its duration is that to the head")
        #expect(record.attempts[0].ended == Moment(microseconds: 50))
    }

    @Test func completeStreamIsASuccess() {
        record.enter(endpoint(calls: 1))
        record.beginCall(0, at: at(1))
        let place = record.beginAttempt(of: 0, .first, at: at(1))
        record.beginStream(of: 0, deciding: place, at: at(5))
        record.attemptCompleted(place, bodyBytes: 0, at: at(9))
        record.endStream(of: 0, nil, at: at(10))
        #expect(record.attempts[0].outcome == .answered)
        #expect(record.calls[0].outcome == .succeeded)
    }

    @Test func lastAttemptIsTheOneOnAnotherHost() {
        let first = record.beginAttempt(of: 0, .first, at: at(1))
        let hedge = record.beginAttempt(of: 0, .hedge, at: at(2))
        let other = record.beginAttempt(of: 0, .otherHost, replacing: first, at: at(3))
        record.attemptFailed(other, .dnsError, at: at(4))
        #expect(record.lastAttempt(replacing: first)?.outcome == .failed(.dnsError))
        #expect(record.lastAttempt(replacing: hedge)?.outcome == AttemptRecord.Outcome.none)
    }

    @Test func aRequestThatIsSentAgainOnAnotherConnectionIsMarked() {
        let attempt = record.beginAttempt(of: 0, .first, at: at(1))
        record.attemptSent(attempt, reusingConnection: true, at: at(2))
        #expect(!record.attempts[0].wasResent)
        record.attemptSent(attempt, reusingConnection: false, at: at(4))
        #expect(record.attempts[0].wasResent && record.attempts[0].sent == Moment(microseconds: 4))
    }

    @Test func momentsNeverGoBack() {
        record.enter(endpoint(calls: 1))
        record.beginCall(0, at: at(50))
        record.endCall(0, .succeeded, at: at(40))
        record.end(at: at(30))
        #expect(record.duration == .microseconds(50) && times == [50, 0, 0, 0])
    }

    @Test func momentsSaturate() {
        let late = Instant(nanoseconds: .max)
        record.end(at: late)
        #expect(record.ended.hasHappened && record.ended.microseconds == .max - 1)
        #expect(record.moment(Instant(nanoseconds: 0)).microseconds == 0)
    }

    @Test func aRecordFromThePoolIsEmpty() throws {
        let pool = RequestRecordPool()
        let first = pool.take(began: at(0))
        first.enter(endpoint(calls: 2, isPadded: true))
        first.beginCall(0, at: at(1))
        _ = first.beginAttempt(of: 0, .first, at: at(1))
        first.isPartial = true
        first.bodyBytes = 3
        first.responseMade(at: at(2))
        first.end(at: at(3))
        pool.give(first)
        let second = pool.take(began: at(100))
        #expect(second === first)
        #expect(second.calls.isEmpty && second.attempts.isEmpty && second.endpoint == nil)
        #expect(!second.isPartial && second.bodyBytes == 0 && !second.isHeld)
        #expect(second.times == RequestTimes() && second.duration == nil)
        #expect(!second.answered.hasHappened && second.callsInFlight == 0)
        #expect(second.moment(at(101)) == Moment(microseconds: 1))
        #expect(pool.take(began: at(0)) !== first)
    }

    // MARK: Details of failures

    @Test func keepsWhyAnAttemptOrACallFailed() {
        record.enter(endpoint(calls: 2))
        for call in 0...1 { record.beginCall(call, at: at(1)) }
        let attempt = record.beginAttempt(of: 0, .first, at: at(2))
        record.attemptFailed(attempt, .tlsCertificateError, detail: "expired", at: at(3))
        record.endCall(0, .failed(.tlsCertificateError), at: at(3))
        record.endCall(1, .failed(.invalidJSON), detail: "byte 7", at: at(4))
        #expect(record.detail(of: 0).map { String($0) } == "expired")
        #expect(record.detail(of: 1).map { String($0) } == "byte 7")
        #expect(record.details.map(\.attempt) == [0, nil])
        record.reset(began: at(5))
        #expect(record.details.isEmpty)
    }

    @Test func aCallDoesNotFailForTheReasonOfAnEarlierAttempt() {
        record.enter(endpoint(calls: 1))
        record.beginCall(0, at: at(1))
        let first = record.beginAttempt(of: 0, .first, at: at(2))
        record.attemptFailed(first, .connectionRefused, detail: "refused", at: at(3))
        let second = record.beginAttempt(of: 0, .retry, at: at(4))
        record.attemptFailed(second, .responseTimeout, at: at(5))
        record.endCall(0, .failed(.responseTimeout), at: at(5))
        #expect(record.detail(of: 0) == nil && record.details.count == 1)
    }

    @Test func aCallThatSucceedsHasNoDetail() {
        record.enter(endpoint(calls: 1))
        record.beginCall(0, at: at(1))
        let first = record.beginAttempt(of: 0, .first, at: at(2))
        record.attemptFailed(first, .connectionRefused, detail: "refused", at: at(3))
        record.endCall(0, .succeeded, at: at(5))
        #expect(record.detail(of: 0) == nil)
    }

    @Test(arguments: [("a", 300, 200), ("\u{E9}", 150, 200), ("a\u{E9}", 100, 199)])
    func cutsALongDetailBetweenCharacters(_ text: String, _ count: Int, _ bytes: Int) {
        let detail = FailureDetail(call: 0, attempt: nil, String(repeating: text, count: count))
        #expect(detail.text.count == bytes)
        #expect(!String(detail.text).contains("\u{FFFD}"))
    }
}
