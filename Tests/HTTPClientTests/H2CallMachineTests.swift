import HTTP
import HTTP2
import Testing

@testable import HTTPClient

/// The machine as a plain value: events in, actions out.
@Suite struct H2CallMachineTests {
    typealias Machine = H2CallMachine
    typealias Facts = H2CallMachine.Facts

    private static let unsent = Facts(hasSentHead: false)
    private static let malformed = Facts(isMalformed: true, fault: .fieldName)
    private static let lost = Machine.Event.connectionEnded(.ended, nil, Facts())
    private static let wrongHead = ClientFailure.head(.fieldName)

    /// A machine whose changes can stand in an expectation.
    private final class Call {
        private var machine: Machine

        init(isStreamed: Bool = false, reusesConnection: Bool = false, hasHead: Bool = false) {
            machine = Machine(
                isStreamed: isStreamed, reusesConnection: reusesConnection, interimResponsesMax: 2)
            if hasHead { _ = machine.receiveHead(isInterim: false) }
        }

        func handle(_ event: Machine.Event) -> Machine.Action? { machine.handle(event) }
        func head(isInterim: Bool = false) -> Machine.HeadUse {
            machine.receiveHead(isInterim: isInterim)
        }
        func receive(_ count: Int) -> Machine.Credit { machine.receive(count) }

        /// The result of a call whose stream is closed with that code.
        func outcome(_ code: H2Code, _ facts: Facts = Facts()) -> Machine.Outcome? {
            if case .close(_, let outcome)? = machine.handle(.streamClosed(code, facts)) {
                outcome
            } else {
                nil
            }
        }
    }

    // MARK: The response

    @Test("RFC 9113 8.1: a response behind its whole request ends the stream")
    func completesBehindTheRequest() {
        let call = Call()
        #expect(call.handle(.requestSent) == nil && call.head() == .take)
        #expect(call.handle(.responseEnded) == .complete(endsStream: true))
        #expect(call.handle(.responseEnded) == nil)
        #expect(call.handle(.streamClosed(.noError, Facts())) == nil)
    }

    @Test("RFC 9113 8.1: a response in front of the end of its request ends the stream early")
    func completesInFrontOfTheEndOfTheRequest() {
        let call = Call(hasHead: true)
        #expect(call.handle(.responseEnded) == .complete(endsStream: false))
        #expect(call.handle(.resetDue) == .reset && call.handle(.resetDue) == nil)
    }

    @Test("RFC 9110 15.2: interim responses precede the final one, up to a limit")
    func refusesTooManyInterimResponses() {
        let call = Call()
        #expect(call.head(isInterim: true) == .takeInterim)
        #expect(call.head(isInterim: true) == .takeInterim)
        #expect(call.head(isInterim: true) == .refuse)
        let other = Call()
        #expect(other.head(isInterim: true) == .takeInterim && other.head() == .take)
    }

    @Test func cancelledCallEndsItsStreamEarly() {
        #expect(
            Call().handle(.callCancelled(isTimedOut: false)) == .endEarly(testsConnection: false))
        #expect(Call().handle(.callFailed) == .endEarly(testsConnection: false))
        let call = Call()
        #expect(call.handle(.callCancelled(isTimedOut: true)) == .endEarly(testsConnection: true))
        #expect(call.handle(.callFailed) == nil && call.handle(.responseEnded) == nil)
        #expect(call.head() == .drop && call.receive(1) == .connection)
        #expect(call.handle(.streamClosed(.cancel, Facts())) == .close(.other, nil))
    }

    // MARK: Credit

    @Test("RFC 9113 5.2: a taken piece gives credit for its stream and the connection")
    func returnsCreditForTakenPieces() {
        #expect(Call(hasHead: true).receive(9) == .stream(growsWindow: false))
    }

    @Test("RFC 9113 5.2.2: a paused user closes the window of its stream only")
    func keepsTheCreditOfAPausedUser() {
        let call = Call(isStreamed: true, hasHead: true)
        #expect(call.handle(.readingPaused) == nil)
        #expect(call.receive(4) == .connection && call.receive(5) == .connection)
        #expect(call.handle(.readingResumed) == .returnCredit(9, growsWindow: false))
        #expect(call.handle(.readingResumed) == nil)
        #expect(call.receive(1) == .stream(growsWindow: false))
        #expect(call.handle(.readingPaused) == nil && call.handle(.readingResumed) == nil)
    }

    @Test func growsTheWindowOnceForAUserThatKeepsTaking() {
        let half = 64 * 1024
        let call = Call(isStreamed: true, hasHead: true)
        #expect(call.receive(half - 1) == .stream(growsWindow: false))
        #expect(call.receive(half) == .stream(growsWindow: false))
        #expect(call.receive(1) == .stream(growsWindow: true))
        #expect(call.receive(4 * half) == .stream(growsWindow: false))
        #expect(Call(hasHead: true).receive(4 * half) == .stream(growsWindow: false))
        let paused = Call(isStreamed: true, hasHead: true)
        _ = paused.handle(.readingPaused)
        _ = paused.receive(2 * half)
        #expect(paused.handle(.readingResumed) == .returnCredit(2 * half, growsWindow: true))
    }

    // MARK: The end of the stream

    @Test("RFC 9113 8.7: a refused stream was not processed, and is sent again")
    func resendsARefusedRequest() {
        #expect(
            Call().handle(.streamClosed(.refusedStream, Facts()))
                == .close(.refused, .resendUnprocessed(.refused)))
        #expect(Call().outcome(.cancel, Self.unsent) == .resendUnprocessed(.refused))
    }

    @Test("RFC 9113 8.7: a stream is not refused behind its response")
    func failsACallThatIsRefusedBehindItsHead() {
        #expect(
            Call(hasHead: true).handle(.streamClosed(.refusedStream, Facts()))
                == .close(
                    .other,
                    .fail(.lost(.reset(H2Code.refusedStream.number), responseHasBegun: true))))
    }

    /// The connection learns of it, although the call has ended.
    @Test func refusalBehindACancelledCallCounts() {
        let call = Call()
        _ = call.handle(.callCancelled(isTimedOut: false))
        #expect(call.handle(.streamClosed(.refusedStream, Facts())) == .close(.refused, nil))
    }

    @Test("RFC 9113 7: HTTP_1_1_REQUIRED, in front of the response")
    func resendsOverHTTP1() {
        #expect(Call().outcome(.http11Required) == .resendOverHTTP1)
        let code = H2Code.http11Required.number
        #expect(
            Call(hasHead: true).outcome(.http11Required)
                == .fail(.lost(.reset(code), responseHasBegun: true)))
    }

    @Test("RFC 9113 7: ENHANCE_YOUR_CALM stops new connections")
    func pausesConnecting() {
        let code = H2Code.enhanceYourCalm.number
        #expect(
            Call().outcome(.enhanceYourCalm)
                == .fail(.lost(.reset(code), responseHasBegun: false), pausesConnecting: true))
    }

    @Test(
        "RFC 9113 5.4.2: any other code fails the call",
        arguments: [H2Code.cancel, .internalError, .noError], [false, true])
    func failsAResetCall(_ code: H2Code, _ hasHead: Bool) {
        #expect(
            Call(hasHead: hasHead).outcome(code)
                == .fail(.lost(.reset(code.number), responseHasBegun: hasHead)))
    }

    @Test("RFC 9113 8.1.1: a malformed response fails its call, and ends the use of the connection")
    func failsAMalformedResponse() {
        #expect(
            Call().handle(.streamClosed(.protocolError, Self.malformed))
                == .close(.malformed, .fail(Self.wrongHead)))
        let wire = ClientFailure(.protocolError, .wire(.fieldName), wasSent: true)
        #expect(Call(hasHead: true).outcome(.protocolError, Self.malformed) == .fail(wire))
        let frames = ClientFailure(.protocolError, .frames, wasSent: true)
        #expect(Call().outcome(.protocolError, Facts(isMalformed: true)) == .fail(frames))
        #expect(Call().outcome(.refusedStream, Self.malformed) == .fail(Self.wrongHead))
    }

    // MARK: The end of the connection

    @Test("RFC 9113 8.7: a request that was not sent is sent again")
    func resendsAnUnsentRequest() {
        #expect(
            Call().handle(.connectionEnded(.ended, nil, Self.unsent))
                == .leave(.resendUnprocessed(.ended)))
    }

    @Test("RFC 9110 9.2.2: a request on a reused connection may be sent again, before its response")
    func resendsALostRequest() {
        let failure = ClientFailure.lost(.ended, responseHasBegun: false)
        #expect(Call(reusesConnection: true).handle(Self.lost) == .leave(.resendLost(failure)))
        #expect(Call().handle(Self.lost) == .leave(.fail(failure)))
        #expect(
            Call(reusesConnection: true, hasHead: true).handle(Self.lost)
                == .leave(.fail(.lost(.ended, responseHasBegun: true))))
    }

    @Test("RFC 9113 5.4.1: an error of the connection fails its calls")
    func failsTheCallsOfABrokenConnection() {
        let frames = ClientFailure(.protocolError, .frames, wasSent: true)
        let broken = Machine.Event.connectionEnded(.frames, frames, Facts())
        #expect(Call(reusesConnection: true).handle(broken) == .leave(.fail(frames)))
        let both = Machine.Event.connectionEnded(.frames, frames, Self.malformed)
        #expect(Call().handle(both) == .leave(.fail(Self.wrongHead)))
    }

    @Test func leavesAConnectionThatDropsItsCalls() {
        let call = Call()
        #expect(call.handle(.callDropped) == .leave(nil))
        #expect(call.handle(Self.lost) == nil && call.handle(.callFailed) == nil)
        let cancelled = Call()
        _ = cancelled.handle(.callFailed)
        #expect(cancelled.handle(Self.lost) == .leave(nil))
    }

    /// In all orders of events a call ends at most once, and its stream at most once.
    @Test func endsEachCallAndStreamOnce() {
        let start = Machine(isStreamed: true, reusesConnection: true, interimResponsesMax: 2)
        #expect(violation(start, [], 4) == nil)
    }

    private static let events: [Machine.Event] = [
        .requestSent, .responseEnded, .callCancelled(isTimedOut: true), .callFailed, .readingPaused,
        .readingResumed, .resetDue, .streamClosed(.cancel, Facts()),
        .streamClosed(.refusedStream, Facts()), lost, .callDropped,
    ]

    /// The actions of the first violation within that many events.
    private func violation(
        _ machine: Machine, _ before: [Machine.Action], _ depth: Int
    ) -> [Machine.Action]? {
        guard depth > 0 else { return nil }
        for event in Self.events {
            var next = machine
            _ = next.receive(1)
            let all = before + [next.handle(event)].compactMap(\.self)
            if all.count(where: \.endsCall) > 1 || all.count(where: \.endsStream) > 1 { return all }
            if let found = violation(next, all, depth - 1) { return found }
        }
        return nil
    }
}

extension H2CallMachine.Action {
    /// Whether the call gets a result, or none is delivered any more.
    fileprivate var endsCall: Bool {
        switch self {
        case .complete, .endEarly, .close(_, .some), .leave(.some): true
        case .returnCredit, .reset, .close(_, nil), .leave(nil): false
        }
    }

    fileprivate var endsStream: Bool {
        switch self {
        case .complete(let endsStream): endsStream
        case .reset, .close, .leave: true
        case .endEarly, .returnCredit: false
        }
    }
}
