import Basics
import HTTP
import HTTP2
import Testing

@testable import HTTPServer

/// The machine as a plain value: events in, actions out.
@Suite struct H2StreamMachineTests {
    typealias Machine = H2StreamMachine
    typealias Facts = H2StreamMachine.Facts

    private static let read = Machine.Event.bodyDemandChanged(.started(isTimed: false))
    private static let gone = Machine.Event.clientLost(hasSentBody: false, status: 499)
    private static let expecting = Facts(expectsContinue: true, statesLength: false)

    /// A machine whose changes can stand in an expectation.
    private final class Stream {
        private(set) var machine: Machine

        init(_ machine: Machine = Machine(endsStream: false)) { self.machine = machine }

        func begin(_ facts: Facts) -> Machine.Content { machine.begin(facts) }
        func receive(_ count: Int) -> Machine.PieceUse { machine.receive(count) }
        func handle(_ event: Machine.Event) -> Machine.Action? { machine.handle(event) }
    }

    /// A request whose body follows its head.
    private func streamed(_ facts: Facts = Facts(statesLength: false)) -> Machine {
        var machine = Machine(endsStream: false)
        _ = machine.begin(facts)
        return machine
    }

    /// A request whose service reads the body.
    private func delivering(isTimed: Bool = false) -> Machine {
        after([.bodyDemandChanged(.started(isTimed: isTimed)), .deliveryBegan], streamed())
    }

    private func after(_ events: [Machine.Event], _ machine: Machine) -> Machine {
        var machine = machine
        for event in events { _ = machine.handle(event) }
        return machine
    }

    private func actions(_ events: [Machine.Event], _ machine: Machine) -> [Machine.Action?] {
        var machine = machine
        return events.map { machine.handle($0) }
    }

    // MARK: The beginning

    @Test("RFC 9113 8.1: a request whose body arrived with its head is passed on complete")
    func passesAWholeBodyOn() {
        let machine = Stream()
        #expect(machine.receive(5) == .store)
        #expect(machine.handle(.clientEnded) == nil)
        #expect(machine.begin(Facts(statesLength: false)) == .stored)
        #expect(machine.machine.body == .complete && machine.machine.storedBytes == 0)
        let empty = Stream(Machine(endsStream: true))
        #expect(empty.begin(Facts()) == .stored && empty.machine.body == .complete)
    }

    @Test("RFC 9113 8.1: an empty DATA frame may end a body, behind the head")
    func keepsAnEmptyBodyOfUnstatedLengthAStream() {
        let machine = Stream()
        _ = machine.handle(.clientEnded)
        #expect(machine.begin(Facts(statesLength: false)) == .streamed)
        #expect(actions([Self.read, .deliveryBegan], machine.machine).last == .endBody)
    }

    @Test("RFC 9113 8.1: a body with trailers stays a stream, whose end carries them")
    func keepsABodyWithTrailersAStream() {
        let machine = Stream()
        _ = machine.receive(5)
        _ = machine.handle(.clientEnded)
        #expect(machine.begin(Facts(hasTrailers: true)) == .streamed)
        #expect(
            actions([Self.read, .deliveryBegan, .storedDelivered], machine.machine) == [
                .beginDelivery(sendsContinue: false, growsWindow: false), .deliverStored, .endBody,
            ])
    }

    @Test("RFC 8441 5: DATA that arrives before the tunnel exists waits for it")
    func storesDataForATunnel() {
        let machine = Stream()
        _ = machine.receive(3)
        #expect(machine.begin(Facts(isTunnel: true, statesLength: false)) == .empty)
        #expect(machine.receive(4) == .store)
        #expect(machine.handle(.responseReady(.tunnel)) == .sendResponse)
        #expect(actions([Self.read, .deliveryBegan], machine.machine).last == .deliverStored)
    }

    @Test func dropsTheBodyOfARejectedHead() {
        let machine = Stream()
        _ = machine.receive(3)
        #expect(!machine.machine.dropsStored)
        #expect(machine.handle(.headRejected) == nil)
        #expect(
            machine.machine.dropsStored && machine.machine.storedBytes == 0
                && machine.receive(1) == .drop)
        #expect(machine.handle(.responseReady(.complete)) == .sendResponse)
    }

    // MARK: 100 Continue

    @Test("RFC 9110 10.1.1: 100 Continue is sent when the service reads the body")
    func sendsContinueWhenTheServiceReads() {
        let machine = Stream(streamed(Self.expecting))
        #expect(
            machine.handle(Self.read) == .beginDelivery(sendsContinue: true, growsWindow: false))
    }

    @Test("RFC 9110 10.1.1: no 100 Continue behind the first byte of the body, or without Expect")
    func sendsNoContinueToAClientThatDoesNotWait() {
        let early = Stream()
        _ = early.receive(1)
        _ = early.begin(Self.expecting)
        let later = Stream(streamed(Self.expecting))
        _ = later.receive(1)
        for machine in [early.machine, later.machine, streamed()] {
            #expect(
                actions([Self.read], machine) == [
                    .beginDelivery(sendsContinue: false, growsWindow: false)
                ])
        }
    }

    @Test("RFC 9110 15.2: no interim response behind the head of the final one")
    func sendsNoInterimBehindTheFinalHead() {
        let machine = Stream(streamed(Self.expecting))
        #expect(machine.machine.allowsInterim(.continue))
        #expect(machine.handle(.responseReady(.streamed)) == .sendResponse)
        #expect(!machine.machine.allowsInterim(.continue))
        #expect(
            machine.handle(Self.read) == .beginDelivery(sendsContinue: false, growsWindow: false))
    }

    @Test("RFC 9113 8.6: HTTP/2 has no 101")
    func sendsNo101() throws {
        let machine = streamed()
        #expect(machine.allowsInterim(try #require(Status(103))))
        #expect(!machine.allowsInterim(try #require(Status(101))))
    }

    // MARK: The body

    @Test("RFC 9113 5.2: an unread body is stored without credit, a read one is passed on")
    func storesUntilTheServiceReads() {
        let machine = Stream(streamed())
        #expect(machine.receive(3) == .store && machine.machine.storedBytes == 3)
        #expect(
            machine.handle(Self.read) == .beginDelivery(sendsContinue: false, growsWindow: false))
        #expect(machine.receive(4) == .store, "the service's call has not returned")
        #expect(
            machine.handle(.deliveryBegan) == .deliverStored && machine.machine.storedBytes == 0)
        #expect(machine.handle(.storedDelivered) == nil)
        #expect(machine.receive(5) == .deliver)
        #expect(machine.handle(.clientEnded) == .endBody && machine.machine.body == .complete)
        #expect(machine.machine.receivedBytes == 12)
    }

    @Test func growsTheWindowForAReaderThatLimitsTheTime() {
        let machine = Stream(streamed())
        let read = Machine.Event.bodyDemandChanged(.started(isTimed: true))
        #expect(machine.handle(read) == .beginDelivery(sendsContinue: false, growsWindow: true))
    }

    @Test func endsABodyOnlyWhenTheServiceHasAllOfIt() {
        let paused = Stream(after([.bodyDemandChanged(.paused)], delivering()))
        #expect(paused.receive(4) == .store && paused.machine.holdsPausedBody)
        #expect(paused.handle(.clientEnded) == nil)
        let resumed = actions([.bodyDemandChanged(.resumed), .storedDelivered], paused.machine)
        #expect(resumed == [.deliverStored, .endBody])
        #expect(actions([.clientEnded, Self.read, .deliveryBegan], streamed()).last == .endBody)
    }

    /// The reader pauses and resumes before its call has returned.
    @Test func deliversNothingBeforeTheCallOfTheServiceReturns() {
        let machine = Stream(streamed())
        _ = machine.receive(4)
        let changes: [Machine.Event] = [
            Self.read, .bodyDemandChanged(.paused), .bodyDemandChanged(.resumed), .clientEnded,
        ]
        #expect(actions(changes, machine.machine).dropFirst() == [nil, nil, nil])
        #expect(after(changes, machine.machine).storedBytes == 4)
        #expect(actions(changes + [.deliveryBegan], machine.machine).last == .deliverStored)
        let empty = actions([Self.read, .clientEnded, .deliveryBegan], streamed())
        #expect(empty.dropFirst() == [nil, .endBody])
        let stopped: [Machine.Event] = [
            Self.read, .bodyDemandChanged(.paused), .deliveryBegan,
        ]
        #expect(actions(stopped, machine.machine).last == .some(nil))
    }

    @Test("RFC 9113 6.9: the client gets credit for the connection only, once a body is cancelled")
    func dropsTheRestOfACancelledBody() {
        let machine = Stream(after([.bodyDemandChanged(.paused)], delivering()))
        _ = machine.receive(4)
        #expect(machine.handle(.bodyDemandChanged(.cancelled)) == nil)
        #expect(
            machine.machine.dropsStored && machine.machine.storedBytes == 0
                && machine.receive(1) == .drop)
        #expect(machine.handle(.clientEnded) == nil)
    }

    @Test func limitsTheTimeOfABodyThatIsRead() {
        #expect(!streamed().limitsBodyTime)
        #expect(delivering().limitsBodyTime && !delivering(isTimed: true).limitsBodyTime)
        #expect(!after([.bodyDemandChanged(.paused)], delivering()).limitsBodyTime)
        #expect(!after([.clientEnded], delivering()).limitsBodyTime)
    }

    @Test func rejectsABodyThatTakesTooLong() {
        let machine = after([.deadlinePassed], delivering())
        #expect(
            actions([.deadlinePassed], delivering()) == [.reject(.tooSlow, isCharged: true)])
        #expect(machine.body == .broken && machine.dropsStored)
        #expect(actions([.deadlinePassed], machine) == [nil], "only once")
        #expect(actions([.responseReady(.complete)], machine) == [.sendResponse])
    }

    @Test("RFC 9113 8.1.1: a stream whose response has begun is reset")
    func resetsASlowBodyBehindTheResponse() {
        #expect(
            actions([.responseReady(.streamed), .deadlinePassed], delivering()) == [
                .sendResponse, .reset(.cancel, isCharged: true),
            ])
    }

    // MARK: Memory, and waiting for the client

    @Test func shedsARequestWhenMemoryIsShort() {
        let machine = after([.bodyDemandChanged(.paused)], delivering())
        #expect(
            actions([.memoryShort], machine) == [
                .reject(.overloaded(.bufferedBytes), isCharged: false)
            ])
        #expect(after([.memoryShort], machine).dropsStored)
    }

    @Test(
        arguments: [
            (.complete, .reset(.internalError, nil)),
            (.streamed, .reset(.internalError, .memoryLimit)),
            (.tunnel, .reset(.cancel, .memoryLimit)),
        ] as [(H2StreamMachine.ResponseForm, H2StreamMachine.Action)])
    func resetsAStreamBehindItsHeadWhenMemoryIsShort(
        _ form: H2StreamMachine.ResponseForm, _ action: H2StreamMachine.Action
    ) {
        let machine = after([.responseReady(form), .bodyDemandChanged(.paused)], delivering())
        #expect(actions([.memoryShort], machine) == [action])
    }

    @Test func waitsForTheClientWithTheBodyAndThenWithTheResponse() {
        #expect(streamed().awaitedFromClient == nil)
        #expect(delivering().awaitedFromClient == .body)
        #expect(after([.bodyDemandChanged(.paused)], delivering()).awaitedFromClient == nil)
        #expect(after([.clientEnded], delivering()).awaitedFromClient == nil)
        #expect(after([.responseReady(.streamed)], delivering()).awaitedFromClient == .response)
        let starting = Stream(after([Self.read], streamed()))
        _ = starting.receive(1)
        #expect(starting.machine.awaitedFromClient == nil, "it has arrived")
    }

    @Test func endsAnExchangeThatWaitsForItsClient() {
        #expect(
            actions([.waitingEnded], delivering()) == [
                .reject(.overloaded(nil), isCharged: true)
            ])
        #expect(
            actions([.responseReady(.complete), .waitingEnded, Self.gone], delivering()) == [
                .sendResponse, .endSlowExchange, .cancelExchange(status: 499),
            ])
    }

    // MARK: The response and the end

    @Test func sendsOneResponse() {
        #expect(
            actions([.responseReady(.complete), .responseReady(.complete)], streamed()) == [
                .sendResponse, nil,
            ])
    }

    @Test(
        "RFC 9113 8.1: the end of the response ends the exchange, whatever the client still sends")
    func endsBehindTheResponse() {
        let machine = after([.responseReady(.streamed), .responseSent], delivering())
        #expect(
            actions([.responseReady(.complete), .responseSent], streamed()) == [
                .sendResponse, .endExchange,
            ])
        #expect(actions([Self.gone, .clientEnded, .deadlinePassed], machine) == [nil, nil, nil])
    }

    @Test("RFC 8441 5: CANCEL resets a tunnel, INTERNAL_ERROR a broken response")
    func resetsABrokenResponse() {
        let ready = [H2StreamMachine.ResponseForm.streamed, .tunnel]
        #expect(
            ready.map { actions([.responseReady($0), .responseBroken], streamed()).last } == [
                .reset(.internalError), .reset(.cancel),
            ])
    }

    @Test func cancelsTheExchangeOfAClientThatIsGone() {
        #expect(actions([Self.gone], streamed()) == [.cancelExchange(status: 499)])
        #expect(after([Self.gone], delivering()).dropsStored)
        #expect(actions([Self.gone, Self.gone], streamed()).last == .some(nil))
    }

    @Test(
        arguments: [
            (.complete, false, .cancelExchange(status: 499)), (.complete, true, .cutOffResponse),
            (.streamed, false, .cutOffResponse), (.tunnel, false, .cutOffResponse),
        ] as [(H2StreamMachine.ResponseForm, Bool, H2StreamMachine.Action)])
    func cutsAResponseOffWhoseClientIsGone(
        _ form: H2StreamMachine.ResponseForm, _ hasSentBody: Bool, _ action: H2StreamMachine.Action
    ) {
        let events: [Machine.Event] = [
            .responseReady(form), .clientLost(hasSentBody: hasSentBody, status: 499),
        ]
        #expect(actions(events, streamed()).last == action)
    }

    // MARK: All orders

    /// From each state of the body: it ends at most once, and behind its last byte.
    @Test func holdsItsInvariantsInAllOrders() {
        let paused = after([.bodyDemandChanged(.paused)], delivering())
        var orders = 0
        for start in [streamed(), streamed(Self.expecting), delivering(), paused] {
            #expect(violation(start, 3, &orders) == nil)
        }
        #expect(orders == 4 * 14_424)
    }

    private static let events: [Machine.Event] = [
        read, .deliveryBegan, .bodyDemandChanged(.paused), .bodyDemandChanged(.resumed),
        .bodyDemandChanged(.cancelled), .clientEnded, .responseReady(.streamed), .responseSent,
        .deadlinePassed, .memoryShort, .waitingEnded, gone,
    ]

    /// The first violation within that many events, each with or without a received byte in front of it.
    private func violation(_ machine: Machine, _ depth: Int, _ orders: inout Int) -> String? {
        guard depth > 0 else { return nil }
        for receives in [false, true] {
            for event in Self.events {
                var next = machine
                orders += 1
                if receives, next.receive(1) == .deliver, next.body != .delivering {
                    return "passes on what is not read"
                }
                let before = next
                let action = next.handle(event)
                switch action {
                case .endBody where before.storedBytes > 0 || !before.isRead:
                    return "\(event) ends too early"
                case .reject where before.response != nil: return "rejects behind the head"
                case .deliverStored where before.storedBytes == 0: return "delivers nothing"
                default: break
                }
                if next.storedBytes > 0, next.dropsStored || next.body == .complete {
                    return "stores what is not needed"
                }
                if let found = violation(next, depth - 1, &orders) {
                    return "\(event), \(found)"
                }
            }
        }
        return nil
    }
}

extension H2StreamMachine {
    fileprivate var isRead: Bool { body == .delivering || body == .paused }
}
