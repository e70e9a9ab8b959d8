import Basics
import Testing

@testable import HTTPServer

/// The machine as a plain value: events in, actions out.
@Suite struct ServerStateMachineTests {
    typealias Event = ServerStateMachine.Event
    typealias Facts = ServerStateMachine.Facts

    /// The actions that a story of events gives, and the machine after it.
    private func actions(
        _ events: [Event], _ machine: ServerStateMachine = ServerStateMachine()
    ) -> (actions: [ServerStateMachine.Action?], machine: ServerStateMachine) {
        var machine = machine
        return (events.map { machine.handle($0) }, machine)
    }

    private static let arriving = Facts(body: .arriving)
    private static let huge = Facts(body: .arriving, bodyMayBeDiscarded: false)
    private static let expecting = Facts(body: .awaitingContinue)
    private static let last = Facts(keepsAlive: false)

    @Test func servesOneRequestAfterTheOther() {
        let one: [Event] = [
            .requestBegan(Facts()), .answerReady, .answerSent(waitsForClient: false),
        ]
        let story = actions(one + one)
        let each: [ServerStateMachine.Action?] = [.serve, .sendAnswer(keepsAlive: true), .readOn]
        #expect(story.actions == each + each)
        #expect(story.machine.reading == .consume && story.machine.wait == .request)
    }

    @Test func keepsWhatComesWhileARequestRuns() {
        let story = actions([.requestBegan(Facts())])
        #expect(story.machine.reading == .keep && story.machine.wait == nil)
    }

    @Test func waitsForAClientThatDoesNotRead() {
        let story = actions([
            .requestBegan(Facts()), .answerReady, .answerSent(waitsForClient: true),
        ])
        #expect(story.actions.last == .some(nil))
        #expect(story.machine.reading == .keep && story.machine.wait == .output)
        #expect(actions([.outputDrained], story.machine).actions == [.readOn])
        #expect(actions([.deadlinePassed], story.machine).actions == [.close])
    }

    /// Small writes gather, so that it may come out behind the answer that they wait.
    @Test func waitsForAClientThatIsSeenLateNotToRead() {
        let story = actions([
            .requestBegan(Facts()), .answerReady, .answerSent(waitsForClient: false),
            .outputBlocked,
        ])
        #expect(story.actions.last == .some(nil))
        #expect(story.machine.reading == .keep && story.machine.wait == .output)
        #expect(actions([.outputDrained], story.machine).actions == [.readOn])
    }

    @Test func theNextRequestIsNotDisturbedByAnAnswerThatWaits() {
        let story = actions([
            .requestBegan(Facts()), .answerReady, .answerSent(waitsForClient: false),
            .requestBegan(Facts()), .outputBlocked, .outputDrained, .answerReady,
        ])
        #expect(
            story.actions == [
                .serve, .sendAnswer(keepsAlive: true), .readOn, .serve, nil, nil,
                .sendAnswer(keepsAlive: true),
            ])
    }

    @Test func finishesBehindTheLastAnswerAndLingers() {
        let story = actions([
            .requestBegan(Self.last), .answerReady, .answerSent(waitsForClient: false),
            .outputDrained,
        ])
        #expect(story.actions == [.serve, .sendAnswer(keepsAlive: false), .finish, nil])
        #expect(story.machine.reading == .drop && story.machine.wait == .linger)
        #expect(actions([.clientEnded], story.machine).actions == [.close])
        #expect(actions([.deadlinePassed], story.machine).actions == [.close])
    }

    @Test func readsABodyWhenItIsWanted() {
        let story = actions([.requestBegan(Self.arriving), .bodyWanted, .bodyEnded, .answerReady])
        #expect(story.actions == [.serve, .readOn, nil, .sendAnswer(keepsAlive: true)])
    }

    @Test func tellsTheClientToGoOnOnlyWhenTheBodyIsWanted() {
        #expect(
            actions([.requestBegan(Self.expecting), .bodyWanted]).actions == [
                .serve, .sendContinue,
            ])
        #expect(
            actions([.requestBegan(Self.expecting), .answerReady]).actions
                == [.serve, .sendAnswer(keepsAlive: false)])
    }

    @Test func readsOverASmallBodyThatNobodyWanted() {
        let story = actions([
            .requestBegan(Self.arriving), .answerReady, .answerSent(waitsForClient: false),
        ])
        #expect(story.actions == [.serve, .sendAnswer(keepsAlive: true), .readOn])
        #expect(story.machine.reading == .consume && story.machine.wait == .body)
        #expect(actions([.bodyEnded], story.machine).actions == [.readOn])
        #expect(actions([.discardedTooMuch], story.machine).actions == [.finish])
        #expect(actions([.deadlinePassed], story.machine).actions == [.finish])
        #expect(actions([.clientEnded], story.machine).actions == [.finish])
        #expect(actions([.messageBroken], story.machine).actions == [.finish])
    }

    @Test(
        arguments: [
            [.requestBegan(huge), .answerReady], [.requestBegan(huge), .bodyWanted, .answerReady],
            [.requestBegan(huge), .bodyWanted, .bodyRefused, .answerReady],
        ] as [[Event]])
    func closesInsteadOfReadingOverALargeBody(_ events: [Event]) {
        #expect(actions(events).actions.last == .sendAnswer(keepsAlive: false))
    }

    @Test(
        arguments: [
            [.messageBroken], [.headBegan, .messageBroken], [.headBegan, .deadlinePassed],
            [.headBegan, .clientEnded], [.requestBegan(arriving), .bodyWanted, .messageBroken],
            [.requestBegan(arriving), .bodyWanted, .deadlinePassed], [.headBegan, .bodyBroken],
        ] as [[Event]])
    func refusesWhatIsNoRequestOrNeverEnds(_ events: [Event]) {
        let story = actions(events)
        #expect(story.actions.last == .refuse)
        #expect(story.machine.reading == .drop && story.machine.wait == .output)
    }

    @Test(
        arguments: [.deadlinePassed, .clientEnded, .turnedAway] as [Event])
    func finishesAnIdleConnection(_ event: Event) {
        #expect(actions([event]).actions == [.finish])
    }

    private static let idling: [Event] = [
        .requestBegan(Facts()), .answerReady, .answerSent(waitsForClient: false),
    ]

    /// A reset could take away an answer that has not arrived yet, or a first request under way.
    @Test func closesAnIdleConnectionAtOnceIfNothingCanBeLost() {
        for event in [Event.drainRequested(isSettled: true), .evicted(isSettled: true)] {
            #expect(actions(Self.idling + [event]).actions.last == .close)
        }
        for event in [Event.drainRequested(isSettled: false), .evicted(isSettled: false)] {
            #expect(actions([event]).actions == [.finish])
            let story = actions(Self.idling + [event, .outputDrained])
            #expect(story.actions.suffix(2) == [.finish, nil])
            #expect(story.machine.wait == .briefLinger)
        }
    }

    @Test(arguments: [[.requestBegan(Facts())], [.headBegan]] as [[Event]])
    func evictsOnlyIdleConnections(_ events: [Event]) {
        #expect(actions(events + [.evicted(isSettled: true)]).actions.last == .some(nil))
    }

    /// The refusal of a malformed body is the service's answer, and the last one.
    @Test(arguments: [.bodyBroken, .clientEnded] as [Event])
    func rejectsABodyThatCannotBeRead(_ event: Event) {
        let story = actions([.requestBegan(Self.arriving), .bodyWanted, event])
        #expect(story.actions.last == .rejectBody)
        #expect(story.machine.reading == .drop && story.machine.isRunning)
        #expect(
            actions([.answerReady, .answerSent(waitsForClient: false)], story.machine).actions
                == [.sendAnswer(keepsAlive: false), .finish])
    }

    @Test func yieldsBetweenTwoRequestsUntilTheNextPass() {
        let story = actions(Self.idling + [.passUsedUp])
        #expect(story.machine.reading == .keep && story.machine.wait == nil)
        #expect(actions([.passBegan], story.machine).actions == [.readOn])
        #expect(actions([.drainRequested(isSettled: true)], story.machine).actions == [nil])
        let blocked = actions([.outputBlocked, .passBegan], story.machine)
        #expect(blocked.actions == [nil, nil] && blocked.machine.wait == .output)
        #expect(actions([.clientEnded, .passBegan], story.machine).actions == [nil, .readOn])
    }

    @Test func asksAClientThatEndedItsSideWhetherItIsThere() {
        let story = actions([.requestBegan(Facts()), .clientEnded, .deadlinePassed])
        #expect(story.actions == [.serve, .probe, .probe])
        #expect(story.machine.wait == .client)
        let rest = actions([.answerReady, .answerSent(waitsForClient: false)], story.machine)
        #expect(rest.actions == [.sendAnswer(keepsAlive: true), .readOn])
        #expect(
            actions([.clientEnded, .outputDrained], rest.machine).actions == [.finish, .close])
    }

    /// Whatever became of the body: a client that is gone is noticed before the answer is due.
    @Test(
        arguments: [
            [.requestBegan(arriving)], [.requestBegan(expecting)],
            [.requestBegan(huge), .bodyWanted, .bodyRefused],
        ] as [[Event]])
    func asksAlsoWhileABodyIsNotRead(_ events: [Event]) {
        let story = actions(events + [.clientEnded, .deadlinePassed])
        #expect(story.actions.suffix(2) == [.probe, .probe])
        #expect(story.machine.wait == .client && story.machine.reading == .keep)
    }

    @Test func giveUpWhatRunsWhenTheClientIsGone() {
        #expect(actions([.requestBegan(Facts()), .clientLost]).actions == [.serve, .abandon])
        #expect(actions([.headBegan, .clientLost]).actions == [nil, .close])
        #expect(actions([.clientLost, .clientLost]).actions == [.close, nil])
    }

    @Test func answersWhatRunsBeforeItDrains() {
        let story = actions([
            .requestBegan(Facts()), .drainRequested(isSettled: true), .answerReady,
            .answerSent(waitsForClient: false),
        ])
        #expect(story.actions == [.serve, nil, .sendAnswer(keepsAlive: false), .finish])
        #expect(
            actions([
                .headBegan, .drainRequested(isSettled: true), .requestBegan(Facts()), .answerReady,
            ]).actions
                == [nil, nil, .serve, .sendAnswer(keepsAlive: false)])
    }

    /// Whatever happens in whatever order: it never serves two requests at once, never answers
    /// without a request, and does nothing once it is closed.
    @Test(arguments: 0..<UInt64(20))
    func keepsItsPromisesInAnyOrder(seed: UInt64) {
        let entropy = Entropy(seed: seed)
        for _ in 0..<200 {
            var machine = ServerStateMachine()
            var runs = false
            for _ in 0..<40 {
                let wasClosed = machine.isClosed
                let action = machine.handle(Self.events[entropy.below(Self.events.count)])
                if wasClosed { #expect(action == nil) }
                switch action {
                case .serve:
                    #expect(!runs)
                    runs = true
                case .sendAnswer:
                    #expect(runs)
                    runs = false
                case .abandon, .refuse, .close: runs = false
                default: break
                }
                #expect(machine.isRunning == runs)
            }
        }
    }

    private static let events: [Event] = [
        .headBegan, .requestBegan(Facts()), .requestBegan(arriving), .requestBegan(expecting),
        .requestBegan(huge), .requestBegan(last), .bodyWanted, .bodyRefused, .bodyEnded,
        .discardedTooMuch, .answerReady, .answerSent(waitsForClient: true),
        .answerSent(waitsForClient: false), .outputBlocked, .outputDrained, .messageBroken,
        .clientEnded, .deadlinePassed, .bodyBroken, .passUsedUp, .passBegan,
        .evicted(isSettled: true), .evicted(isSettled: false),
    ]
}
