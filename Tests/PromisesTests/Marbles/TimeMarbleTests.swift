import Promises
import Testing

/// F81 to F87 as marble diagrams: operators that depend on time, with both promise types.
@Suite struct TimeMarbleTests {
    struct Line: CustomTestStringConvertible, Sendable {
        var work: String
        var result: String
        var stopped = ""
        var testDescription: String { "\(work) becomes \(result)" }
    }

    @Test(
        "F82: timeout after three columns",
        arguments: [
            Line(work: "a", result: "a"),
            Line(work: "--a", result: "--a"),
            Line(work: "--x", result: "--x"),
            Line(work: "----a", result: "---T", stopped: "---!"),
            Line(work: "----------", result: "---T", stopped: "---!"),
        ])
    func timeoutRejectsAfterItsLimit(line: Line) {
        let marbles = Marbles()
        let work = marbles.source(line.work)
        marbles.expect(work.promise.timeout(.columns(3)), line.result)
        #expect(work.stopped == line.stopped)
        #expect(marbles.context.liveTimers == 0)
    }

    @Test(
        "F82: timeout of a local promise",
        arguments: [
            Line(work: "--a", result: "--a"), Line(work: "----a", result: "---T", stopped: "---!"),
        ])
    func timeoutOfALocalPromise(line: Line) {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let marbles = Marbles(context)
            let work = marbles.source(line.work)
            marbles.expect(work.promise.on(local).timeout(.columns(3)), line.result)
            #expect(work.stopped == line.stopped)
            #expect(context.liveTimers == 0)
        }
    }

    @Test("F82: a timeout does not affect other consumers")
    func aTimeoutDoesNotAffectOtherConsumers() {
        let marbles = Marbles()
        let work = marbles.source("-----a")
        let other = work.promise.map { $0 }
        marbles.expect(work.promise.timeout(.columns(3)), "---T")
        marbles.expect(other, "--a")
        #expect(work.stopped == "")
    }

    @Test(
        "F83: at least three columns",
        arguments: [
            Line(work: "a", result: "---a"), Line(work: "-a", result: "---a"),
            Line(work: "----a", result: "----a"), Line(work: "-x", result: "-x"),
        ])
    func atLeastHoldsEarlyValues(line: Line) {
        let marbles = Marbles()
        let work = marbles.source(line.work)
        marbles.expect(work.promise.atLeast(.columns(3)), line.result)
        #expect(marbles.context.liveTimers == 0)
    }

    @Test(
        "F83: at least three columns, errors too",
        arguments: [Line(work: "-x", result: "---x"), Line(work: "----x", result: "----x")])
    func atLeastHoldingFailures(line: Line) {
        let marbles = Marbles()
        let work = marbles.source(line.work)
        marbles.expect(work.promise.atLeast(.columns(3), holdingFailures: true), line.result)
    }

    @Test(
        "F87: delayed by two columns",
        arguments: [Line(work: "-a", result: "---a"), Line(work: "-x", result: "-x")])
    func delayedDelaysValues(line: Line) {
        let marbles = Marbles()
        let work = marbles.source(line.work)
        marbles.expect(work.promise.delayed(by: .columns(2)), line.result)
    }

    @Test("F87: cancelling a delay ends it") func cancellingADelayEndsIt() {
        let marbles = Marbles()
        let delayed = marbles.source("-a").promise.delayed(by: .columns(5))
        marbles.at(3) { delayed.cancel() }
        marbles.expect(delayed, "---!")
        #expect(marbles.context.liveTimers == 0)
    }

    @Test("F81: after", arguments: [(0, "a"), (-4, "a"), (1, "-a"), (3, "---a")])
    func afterFulfilsLater(columns: Int, result: String) {
        let marbles = Marbles()
        let fired = after(.columns(columns), on: marbles.context).map { Character("a") }
        marbles.expect(fired.promise, result)
    }

    @Test(
        "F72: the first value wins",
        arguments: [
            (["--a", "-b-"], "-b", ["-!", ""]), (["-x", "---b"], "---b", ["", ""]),
            (["-x", "--y"], "--?", ["", ""]), (["----", "----"], "----", ["", ""]),
        ])
    func raceGivesTheFirstValue(lines: [String], result: String, stopped: [String]) {
        let marbles = Marbles()
        let sources = lines.map(marbles.source)
        marbles.expect(Promises.race(sources.map(\.promise)), result)
        #expect(sources.map(\.stopped) == stopped)
    }

    @Test(
        "F73: the first outcome wins",
        arguments: [(["--a", "-x"], "-x", ["-!", ""]), (["-a", "--x"], "-a", ["", "-!"])])
    func firstSettledGivesTheFirstOutcome(lines: [String], result: String, stopped: [String]) {
        let marbles = Marbles()
        let sources = lines.map(marbles.source)
        marbles.expect(Promises.firstSettled(sources.map(\.promise)), result)
        #expect(sources.map(\.stopped) == stopped)
    }

    @Test(
        "F64: all wait for the last value and end with the first error",
        arguments: [
            (["-a", "---b"], "---2", ["", ""]), (["--x", "-----b"], "--x", ["", "--!"]),
        ])
    func allEndsWithTheLastValueOrTheFirstError(lines: [String], result: String, stopped: [String])
    {
        let marbles = Marbles()
        let sources = lines.map(marbles.source)
        let count = Promises.all(sources.map(\.promise)).map { Character("\($0.count)") }
        marbles.expect(count, result)
        #expect(sources.map(\.stopped) == stopped)
    }

    @Test(
        "F68: any waits for all inputs",
        arguments: [
            (["-a", "---x"], "---1"), (["-x", "----b"], "----1"), (["x", "-y"], "-?"),
            (["a", "-----"], "-----"),
        ])
    func anyWaitsForAllInputs(lines: [String], result: String) {
        let marbles = Marbles()
        let sources = lines.map(marbles.source)
        let inputs = sources.enumerated().map { (key: $0, promise: $1.promise) }
        marbles.expect(Promises.any(inputs).map { Character("\($0.values.count)") }, result)
        #expect(sources.map(\.stopped) == ["", ""])
    }

    @Test("F68: a timeout bounds the slowest input of any")
    func aTimeoutBoundsTheSlowestInputOfAny() {
        let marbles = Marbles()
        let slow = marbles.source("---------")
        let inputs = [
            (key: 0, promise: marbles.source("-a").promise),
            (key: 1, promise: slow.promise.timeout(.columns(4))),
        ]
        marbles.expect(Promises.any(inputs).map { Character("\($0.values.count)") }, "----1")
        #expect(slow.stopped == "----!")
    }
}
