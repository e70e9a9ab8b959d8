import Basics
import HTTP
import Promises
import SimReactor
import Testing

@testable import Gateway

/// When padded responses leave, counted from the last byte of the request.
@Suite struct PaddingTests {
    private let network = SimNetwork(seed: 1)
    private let loop: SimLoop
    private let context: RequestContext

    init() {
        loop = network.makeLoop("worker")
        context = RequestContext(
            ExchangeStart(
                id: RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
                local: loop.local, began: loop.now))
    }

    /// - Parameters:
    ///   - late: how long the iteration has lasted when the request is served
    ///   - takes: the time of the service
    ///   - error: of the service; nil for a response
    private func left(
        _ plan: PaddingPlan, late: Duration = .zero, takes: Duration = .zero,
        error: (any Error)? = nil
    ) throws -> Duration? {
        let service = Padding.filter(plan, loop: loop).around(
            Service { _, context in
                context.local.value(Response(status: .ok)).delayed(by: takes).map { response in
                    if let error { throw error }
                    return response
                }
            })
        let request = Request(
            head: RequestHead(method: .get, target: try #require(Target("/x"))), body: .empty)
        loop.timeOfCode = late
        var left: Instant?
        let observed = service(request, context).ensure { [loop] in left = loop.now }
        loop.timeOfCode = .zero
        network.advance(by: .seconds(2))
        withExtendedLifetime(observed) {}
        return left.map { $0 - context.began }
    }

    private let plain = PaddingPlan(minimum: .milliseconds(400), step: nil)
    private let stepped = PaddingPlan(minimum: .milliseconds(400), step: .milliseconds(100))

    @Test func aResponseLeavesAtTheMinimum() throws {
        #expect(try left(plain) == .milliseconds(400))
    }

    /// The clock of the loop is that of the start of the iteration.
    @Test func theTimeOfTheIterationIsAdded() throws {
        #expect(try left(plain, late: .milliseconds(3)) == .milliseconds(403))
    }

    @Test func aLaterResponseLeavesAtTheNextStep() throws {
        #expect(
            try left(stepped, late: .milliseconds(3), takes: .milliseconds(450))
                == .milliseconds(503))
    }

    /// The timer of the minimum fires late; the response was ready before it.
    @Test(arguments: [Duration.zero, .milliseconds(399), .milliseconds(400)])
    func aResponseBeforeTheMinimumIsNotRoundedUp(takes: Duration) throws {
        loop.timerLateness = .milliseconds(1)
        let late = takes == .zero ? .zero : loop.timerLateness
        #expect(try left(stepped, takes: takes - late) == .milliseconds(401))
    }

    /// The step after it is not reached either.
    @Test func theStepIsThatOfTheReadyResponse() throws {
        loop.timerLateness = .milliseconds(1)
        #expect(try left(stepped, takes: .milliseconds(499)) == .milliseconds(501))
    }

    private struct Failure: Error {}

    @Test(arguments: [(0, 400), (400, 400), (401, 500), (501, 600)])
    func aFailureIsRoundedUpToo(takes: Int, leaves: Int) throws {
        let end = try left(stepped, takes: .milliseconds(takes), error: Failure())
        #expect(end == .milliseconds(leaves))
    }

    /// The last byte arrived in an earlier iteration.
    @Test func theTimeSinceTheLastByteCounts() throws {
        network.advance(by: .milliseconds(100))
        #expect(try left(plain, late: .milliseconds(3)) == .milliseconds(400))
    }

    /// The time until the response leaves is held, whatever the service gives.
    @Test(arguments: [false, true]) func theTimeOfHoldingIsRecorded(_ fails: Bool) throws {
        context.record.enter(RecordedEndpoint(name: "GET /x", isPadded: true, calls: []))
        let service = Padding.filter(plain, loop: loop).around(
            Service { [loop] _, context in
                context.local.value(Response(status: .ok)).delayed(by: .milliseconds(100)).map {
                    context.record.responseMade(at: loop.now)
                    if fails { throw Failure() }
                    return $0
                }
            })
        let request = Request(
            head: RequestHead(method: .get, target: try #require(Target("/x"))), body: .empty)
        let response = service(request, context)
        network.advance(by: .milliseconds(200))
        #expect(context.record.isHeld)
        network.advance(by: .milliseconds(300))
        #expect(!context.record.isHeld)
        context.record.end(at: loop.now)
        #expect(context.record.times[.held] == .milliseconds(300))
        withExtendedLifetime(response) {}
    }
}
