import Basics
import HTTP
import Testing

@testable import HTTPServer

/// The machine as a plain value: events in, actions out.
@Suite struct ServerStateMachineTests {
    typealias Event = ServerStateMachine.Event
    typealias Facts = ServerStateMachine.Facts

    /// The actions of a sequence of events, and the machine after it.
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
    private static let ready = Event.responseReady(closesConnection: false)

    @Test func servesOneRequestAfterTheOther() {
        let one: [Event] = [
            .requestBegan(Facts()), Self.ready, .responseEnded(waitsForClient: false),
        ]
        let result = actions(one + one)
        let each: [ServerStateMachine.Action?] = [.serve, .sendResponse(keepsAlive: true), .readOn]
        #expect(result.actions == each + each)
        #expect(result.machine.reading == .consume && result.machine.wait == .request)
    }

    @Test func storesInputWhileARequestRuns() {
        let result = actions([.requestBegan(Facts())])
        #expect(result.machine.reading == .keep && result.machine.wait == nil)
    }

    @Test func waitsForAClientThatDoesNotRead() {
        let result = actions([
            .requestBegan(Facts()), Self.ready, .responseEnded(waitsForClient: true),
        ])
        #expect(result.actions.last == .some(nil))
        #expect(result.machine.reading == .keep && result.machine.wait == .output)
        #expect(actions([.outputDrained], result.machine).actions == [.readOn])
        #expect(actions([.deadlinePassed], result.machine).actions == [.close])
    }

    /// The rest of a body may end before the client has taken the response, or after it.
    @Test(arguments: [[Event.bodyEnded, .outputDrained], [.outputDrained, .bodyEnded]])
    func waitsForTheBodyAndForTheOutput(_ order: [Event]) {
        let result = actions([
            .requestBegan(Self.arriving), Self.ready, .responseEnded(waitsForClient: true),
        ])
        #expect(result.actions.last == .readOn && result.machine.wait == .body)
        let first = actions([order[0]], result.machine)
        #expect(first.actions == [nil])
        #expect(actions([order[1]], first.machine).actions == [.readOn])
    }

    /// Small writes are buffered, so their blocking may be reported after the response.
    @Test func waitsForAClientWhoseOutputBlocksLater() {
        let result = actions([
            .requestBegan(Facts()), Self.ready, .responseEnded(waitsForClient: false),
            .outputBlocked,
        ])
        #expect(result.actions.last == .some(nil))
        #expect(result.machine.reading == .keep && result.machine.wait == .output)
        #expect(actions([.outputDrained], result.machine).actions == [.readOn])
    }

    @Test func blockedOutputDoesNotDisturbTheNextRequest() {
        let result = actions([
            .requestBegan(Facts()), Self.ready, .responseEnded(waitsForClient: false),
            .requestBegan(Facts()), .outputBlocked, .outputDrained, Self.ready,
        ])
        #expect(
            result.actions == [
                .serve, .sendResponse(keepsAlive: true), .readOn, .serve, nil, nil,
                .sendResponse(keepsAlive: true),
            ])
    }

    @Test func finishesAfterTheLastResponseAndLingers() {
        let result = actions([
            .requestBegan(Self.last), Self.ready, .responseEnded(waitsForClient: false),
            .outputDrained,
        ])
        #expect(result.actions == [.serve, .sendResponse(keepsAlive: false), .finish, nil])
        #expect(result.machine.reading == .drop && result.machine.wait == .linger)
        #expect(actions([.clientEnded], result.machine).actions == [.close])
        #expect(actions([.deadlinePassed], result.machine).actions == [.close])
    }

    @Test func readsABodyWhenTheServiceReadsIt() {
        let result = actions([
            .requestBegan(Self.arriving), .bodyDemandChanged(.started(isTimed: false)), .bodyEnded,
            Self.ready,
        ])
        #expect(result.actions == [.serve, .readOn, nil, .sendResponse(keepsAlive: true)])
    }

    @Test func sendsContinueOnlyWhenTheServiceReadsTheBody() {
        #expect(
            actions([.requestBegan(Self.expecting), .bodyDemandChanged(.started(isTimed: false))])
                .actions
                == [
                    .serve, .sendContinue,
                ])
        #expect(
            actions([.requestBegan(Self.expecting), Self.ready]).actions
                == [.serve, .sendResponse(keepsAlive: false)])
    }

    @Test func discardsASmallUnreadBody() {
        let result = actions([
            .requestBegan(Self.arriving), Self.ready, .responseEnded(waitsForClient: false),
        ])
        #expect(result.actions == [.serve, .sendResponse(keepsAlive: true), .readOn])
        #expect(result.machine.reading == .consume && result.machine.wait == .body)
        #expect(actions([.bodyEnded], result.machine).actions == [.readOn])
        #expect(actions([.discardedTooMuch], result.machine).actions == [.finish])
        #expect(actions([.deadlinePassed], result.machine).actions == [.finish])
        #expect(actions([.clientEnded], result.machine).actions == [.finish])
        #expect(actions([.bodyBroken(.chunkSize)], result.machine).actions == [.finish])
    }

    @Test(
        arguments: [
            [.requestBegan(huge), ready],
            [.requestBegan(huge), .bodyDemandChanged(.started(isTimed: false)), ready],
            [
                .requestBegan(huge), .bodyDemandChanged(.started(isTimed: false)),
                .bodyDemandChanged(.cancelled),
                ready,
            ],
        ] as [[Event]])
    func closesInsteadOfDiscardingALargeBody(_ events: [Event]) {
        #expect(actions(events).actions.last == .sendResponse(keepsAlive: false))
    }

    @Test(
        arguments: [
            ([.rejected(.overloaded(.connections))], .overloaded(.connections)),
            ([.headBegan, .rejected(.overloaded(.connections))], .overloaded(.connections)),
            ([.headBegan, .deadlinePassed], .tooSlow),
            (
                [
                    .requestBegan(arriving), .bodyDemandChanged(.started(isTimed: false)),
                    .rejected(.overloaded(.connections)),
                ], .overloaded(.connections)
            ),
            (
                [
                    .requestBegan(arriving), .bodyDemandChanged(.started(isTimed: false)),
                    .deadlinePassed,
                ],
                .tooSlow
            ),
            ([.headBegan, .bodyBroken(.fieldName)], .malformed(.fieldName)),
        ] as [([Event], Rejection)])
    func rejectsMalformedAndUnfinishedRequests(_ events: [Event], _ rejection: Rejection) {
        let result = actions(events)
        #expect(result.actions.last == .reject(rejection))
        #expect(result.machine.reading == .drop && result.machine.wait == nil)
        let rest = actions(
            [Self.ready, .responseEnded(waitsForClient: false), .outputDrained], result.machine)
        #expect(rest.actions == [.sendResponse(keepsAlive: false), .finish, nil])
        #expect(rest.machine.wait == .linger)
    }

    @Test func rejectsAHeadThatBreaksOff() {
        let result = actions([
            .headBegan, .clientEnded, Self.ready, .responseEnded(waitsForClient: false),
            .outputDrained,
        ])
        #expect(
            result.actions.dropFirst() == [
                .reject(.malformed(.cutShort)), .sendResponse(keepsAlive: false), .finish, .close,
            ])
    }

    /// A rejection may wait for the embedder's chain.
    @Test func abandonsARejectionWhoseClientIsGone() {
        let result = actions([
            .rejected(.overloaded(.connections)), .rejected(.tooSlow), .clientLost,
        ])
        #expect(result.actions == [.reject(.overloaded(.connections)), nil, .abandon])
    }

    @Test(
        arguments: [.deadlinePassed, .clientEnded] as [Event])
    func finishesAnIdleConnection(_ event: Event) {
        #expect(actions([event]).actions == [.finish])
    }

    private static let idling: [Event] = [
        .requestBegan(Facts()), ready, .responseEnded(waitsForClient: false),
    ]

    /// A reset could destroy a response that has not arrived yet, or a first request on its way.
    @Test func closesAnIdleConnectionAtOnceIfNothingCanBeLost() {
        for event in [Event.drainRequested(isSettled: true), .evicted(isSettled: true)] {
            #expect(actions(Self.idling + [event]).actions.last == .close)
        }
        for event in [Event.drainRequested(isSettled: false), .evicted(isSettled: false)] {
            #expect(actions([event]).actions == [.finish])
            let result = actions(Self.idling + [event, .outputDrained])
            #expect(result.actions.suffix(2) == [.finish, nil])
            #expect(result.machine.wait == .briefLinger)
        }
    }

    @Test(arguments: [[.requestBegan(Facts())], [.headBegan]] as [[Event]])
    func evictsOnlyIdleConnections(_ events: [Event]) {
        #expect(actions(events + [.evicted(isSettled: true)]).actions.last == .some(nil))
    }

    /// The rejection of a malformed body is the service's response, and the last one.
    @Test(
        arguments: [
            (.bodyBroken(.chunkSize), .chunkSize), (.clientEnded, .cutShort),
        ] as [(Event, WireError)])
    func failsAMalformedOrTruncatedBody(_ event: Event, _ error: WireError) {
        let result = actions([
            .requestBegan(Self.arriving), .bodyDemandChanged(.started(isTimed: false)), event,
        ])
        #expect(result.actions.last == .failBody(error))
        #expect(result.machine.reading == .drop && result.machine.isRunning)
        #expect(
            actions([Self.ready, .responseEnded(waitsForClient: false)], result.machine).actions
                == [.sendResponse(keepsAlive: false), .finish])
    }

    @Test func yieldsBetweenTwoRequestsUntilTheNextIteration() {
        let result = actions(Self.idling + [.iterationUsedUp])
        #expect(result.machine.reading == .keep && result.machine.wait == nil)
        #expect(actions([.iterationBegan], result.machine).actions == [.readOn])
        #expect(actions([.drainRequested(isSettled: true)], result.machine).actions == [nil])
        let blocked = actions([.outputBlocked, .iterationBegan], result.machine)
        #expect(blocked.actions == [nil, nil] && blocked.machine.wait == .output)
        #expect(
            actions([.clientEnded, .iterationBegan], result.machine).actions == [nil, .readOn])
    }

    @Test func probesAClientThatHalfClosed() {
        let result = actions([.requestBegan(Facts()), .clientEnded, .deadlinePassed])
        #expect(result.actions == [.serve, .probe, .probe])
        #expect(result.machine.wait == .probe)
        let rest = actions([Self.ready, .responseEnded(waitsForClient: false)], result.machine)
        #expect(rest.actions == [.sendResponse(keepsAlive: true), .readOn])
        #expect(
            actions([.clientEnded, .outputDrained], rest.machine).actions == [.finish, .close])
    }

    /// A lost client is detected before the response, whatever the state of the body.
    @Test(
        arguments: [
            [.requestBegan(arriving)], [.requestBegan(expecting)],
            [
                .requestBegan(huge), .bodyDemandChanged(.started(isTimed: false)),
                .bodyDemandChanged(.cancelled),
            ],
        ] as [[Event]])
    func probesWhileABodyIsNotRead(_ events: [Event]) {
        let result = actions(events + [.clientEnded, .deadlinePassed])
        #expect(result.actions.suffix(2) == [.probe, .probe])
        #expect(result.machine.wait == .probe && result.machine.reading == .keep)
    }

    @Test func abandonsTheExchangeOfALostClient() {
        #expect(actions([.requestBegan(Facts()), .clientLost]).actions == [.serve, .abandon])
        #expect(actions([.headBegan, .clientLost]).actions == [nil, .close])
        #expect(actions([.clientLost, .clientLost]).actions == [.close, nil])
    }

    @Test func completesTheRunningRequestBeforeItDrains() {
        let result = actions([
            .requestBegan(Facts()), .drainRequested(isSettled: true), Self.ready,
            .responseEnded(waitsForClient: false),
        ])
        #expect(result.actions == [.serve, nil, .sendResponse(keepsAlive: false), .finish])
        #expect(
            actions([
                .headBegan, .drainRequested(isSettled: true), .requestBegan(Facts()), Self.ready,
            ]).actions
                == [nil, nil, .serve, .sendResponse(keepsAlive: false)])
    }

    /// In random order of events it never serves two requests at once, never responds without a
    /// request, and does nothing after it is closed.
    @Test(arguments: 0..<UInt64(20))
    func keepsItsInvariantsUnderRandomEvents(seed: UInt64) {
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
                case .sendResponse:
                    #expect(runs)
                    runs = false
                case .reject: runs = true
                case .abandon, .close: runs = false
                case .sendContinue, .readOn, .startBody, .startTunnel, .endUpload, .resumeBody,
                    .failBody, .finish, .probe, nil:
                    break
                }
                #expect(machine.isRunning == runs)
            }
        }
    }

    private static let events: [Event] = [
        .headBegan, .requestBegan(Facts()), .requestBegan(arriving), .requestBegan(expecting),
        .requestBegan(huge), .requestBegan(last), .bodyDemandChanged(.started(isTimed: false)),
        .bodyDemandChanged(.cancelled),
        .bodyEnded,
        .discardedTooMuch, ready, .responseReady(closesConnection: true), .responseHeadSent,
        .tunnelHeadSent, .responseBroken, .bodyDemandChanged(.paused), .bodyDemandChanged(.resumed),
        .readingPaused,
        .readingResumed,
        .clientLost,
        .drainRequested(isSettled: true), .responseEnded(waitsForClient: true),
        .responseEnded(waitsForClient: false), .outputBlocked, .outputDrained,
        .rejected(.overloaded(.connections)),
        .clientEnded, .deadlinePassed, .bodyBroken(.chunkSize), .iterationUsedUp, .iterationBegan,
        .evicted(isSettled: true), .evicted(isSettled: false),
    ]
}

/// Streamed bodies: head, pieces and end of a response are separate events.
@Suite struct StreamingStateMachineTests {
    typealias Event = ServerStateMachine.Event
    typealias Facts = ServerStateMachine.Facts

    private static let streaming: [Event] = [
        .requestBegan(Facts()), .responseReady(closesConnection: false), .responseHeadSent,
    ]

    /// The actions of events, and the machine after them.
    private func actions(
        _ events: [Event]
    ) -> (actions: [ServerStateMachine.Action?], machine: ServerStateMachine) {
        var machine = ServerStateMachine()
        return (events.map { machine.handle($0) }, machine)
    }

    @Test func relaysTheBodyBetweenTheHeadAndTheEnd() {
        let result = actions(Self.streaming)
        #expect(result.actions == [.serve, .sendResponse(keepsAlive: true), .startBody])
        #expect(result.machine.reading == .keep && result.machine.wait == nil)
        let ended = actions(Self.streaming + [.responseEnded(waitsForClient: false)])
        #expect(ended.actions.last == .readOn && ended.machine.wait == .request)
        let blocked = actions(Self.streaming + [.responseEnded(waitsForClient: true)])
        #expect(blocked.actions.last == .some(nil) && blocked.machine.wait == .output)
    }

    @Test func waitsForTheClientAndResumesTheBody() {
        let blocked = Self.streaming + [.outputBlocked]
        #expect(actions(blocked).machine.wait == .output)
        let drained = actions(blocked + [.outputDrained])
        #expect(drained.actions.last == .resumeBody && drained.machine.wait == nil)
        #expect(actions(blocked + [.deadlinePassed]).actions.last == .abandon)
        // A slow backend does not limit the client.
        #expect(actions(Self.streaming + [.deadlinePassed]).actions.last == .some(nil))
    }

    @Test(arguments: [.responseBroken, .clientEnded, .clientLost] as [Event])
    func abandonsAResponseThatCannotBeCompleted(_ event: Event) {
        let result = actions(Self.streaming + [event])
        #expect(result.actions.last == .abandon && result.machine.isClosed)
    }

    @Test func finishesAfterAStreamThatEndsWithItsConnection() {
        let result = actions([
            .requestBegan(Facts()), .responseReady(closesConnection: true), .responseHeadSent,
            .responseEnded(waitsForClient: false),
        ])
        #expect(result.actions[1] == .sendResponse(keepsAlive: false))
        #expect(result.actions.last == .finish)
    }

    @Test func finishesAfterAStreamWhenTheServerDrains() {
        let result = actions(
            Self.streaming + [
                .drainRequested(isSettled: true), .responseEnded(waitsForClient: false),
            ])
        #expect(result.actions.suffix(2) == [nil, .finish])
    }

    /// A backend may respond before it has read all of the request.
    @Test func readsTheRequestsBodyWhileTheResponseIsStreamed() {
        let early: [Event] = [
            .requestBegan(Facts(body: .arriving)), .bodyDemandChanged(.started(isTimed: false)),
            .responseReady(closesConnection: false),
            .responseHeadSent,
        ]
        #expect(actions(early).machine.reading == .consume)
        #expect(actions(early + [.bodyDemandChanged(.paused)]).machine.reading == .keep)
        #expect(
            actions(early + [.bodyDemandChanged(.paused), .bodyDemandChanged(.resumed)]).actions
                .last == .readOn)
        #expect(actions(early + [.deadlinePassed]).actions.last == .abandon)
        #expect(actions(early + [.bodyBroken(.chunkSize)]).actions.last == .failBody(.chunkSize))
        let ended = actions(early + [.bodyEnded, .responseEnded(waitsForClient: false)])
        #expect(ended.actions.last == .readOn && ended.machine.wait == .request)
        let left = actions(early + [.responseEnded(waitsForClient: false)])
        #expect(left.actions.last == .readOn && left.machine.wait == .body)
    }

    /// What waits may be a whole body, so an interim response finds out whether the client is there.
    @Test func probesAClientWhoseEndIsPending() {
        let paused: [Event] = [
            .requestBegan(Facts(body: .arriving)), .bodyDemandChanged(.started(isTimed: true)),
            .bodyDemandChanged(.paused), .readingPaused,
        ]
        #expect(actions(paused).machine.wait == nil)
        let pending = actions(paused + [.clientEndPending])
        #expect(pending.actions.last == .probe && pending.machine.wait == .probe)
        #expect(actions(paused + [.clientEndPending, .deadlinePassed]).actions.last == .probe)
        let resumed = actions(
            paused + [.clientEndPending, .readingResumed, .bodyDemandChanged(.resumed)])
        #expect(resumed.actions.last == .readOn && resumed.machine.wait == nil)
        #expect(!actions(paused + [.readingResumed, .clientEndPending]).machine.isClientEndPending)
    }

    /// While a response is streamed, a client that closes its sending side counts as gone; not in a
    /// tunnel.
    @Test func pendingEndEndsAStreamedResponse() {
        let begun: [Event] = [
            .requestBegan(Facts(body: .arriving)), .bodyDemandChanged(.started(isTimed: true)),
            .bodyDemandChanged(.paused), .readingPaused,
        ]
        let head: [Event] = [.responseReady(closesConnection: false), .responseHeadSent]
        #expect(actions(begun + head + [.clientEndPending]).actions.last == .abandon)
        #expect(actions(begun + [.clientEndPending] + head).actions.last == .abandon)
        let tunnel: [Event] = [
            .requestBegan(Facts()), .responseReady(closesConnection: false), .tunnelHeadSent,
            .readingPaused, .clientEndPending,
        ]
        #expect(actions(tunnel).actions.suffix(3) == [.startTunnel, nil, nil])
        #expect(!actions(tunnel).machine.isClosed)
    }

    @Test func pausesTheRequestsBodyForItsReader() {
        let paused: [Event] = [
            .requestBegan(Facts(body: .arriving)), .bodyDemandChanged(.started(isTimed: false)),
            .bodyDemandChanged(.paused),
        ]
        let result = actions(paused)
        #expect(result.machine.reading == .keep && result.machine.wait == nil)
        #expect(actions(paused + [.bodyDemandChanged(.resumed)]).machine.reading == .consume)
        #expect(actions(paused + [.bodyDemandChanged(.cancelled)]).machine.reading == .keep)
    }
}
