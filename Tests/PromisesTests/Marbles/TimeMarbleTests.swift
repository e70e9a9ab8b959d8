import Promises
import Testing

/// F81 to F87 drawn as marbles: what depends on time, on both faces.
@Suite struct TimeMarbleTests {
    struct Line: CustomTestStringConvertible, Sendable {
        var work: String
        var answer: String
        var stopped = ""
        var testDescription: String { "\(work) becomes \(answer)" }
    }

    @Test(
        "F82: timeout after three columns",
        arguments: [
            Line(work: "a", answer: "a"),
            Line(work: "--a", answer: "--a"),
            Line(work: "--x", answer: "--x"),
            Line(work: "----a", answer: "---T", stopped: "---!"),
            Line(work: "----------", answer: "---T", stopped: "---!"),
        ])
    func timeout(line: Line) {
        let marbles = Marbles()
        let work = marbles.source(line.work)
        marbles.expect(work.promise.timeout(.columns(3)), line.answer)
        #expect(work.stopped == line.stopped)
        #expect(marbles.context.liveTimers == 0)
    }

    @Test(
        "F82: timeout on a core",
        arguments: [
            Line(work: "--a", answer: "--a"), Line(work: "----a", answer: "---T", stopped: "---!"),
        ])
    func timeoutOnACore(line: Line) {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let marbles = Marbles(context)
            let work = marbles.source(line.work)
            marbles.expect(work.promise.on(local).timeout(.columns(3)), line.answer)
            #expect(work.stopped == line.stopped)
            #expect(context.liveTimers == 0)
        }
    }

    @Test("F82: a timeout of one leaves the other consumer alone")
    func aTimeoutOfOneLeavesTheOtherConsumerAlone() {
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
            Line(work: "a", answer: "---a"), Line(work: "-a", answer: "---a"),
            Line(work: "----a", answer: "----a"), Line(work: "-x", answer: "-x"),
        ])
    func atLeast(line: Line) {
        let marbles = Marbles()
        let work = marbles.source(line.work)
        marbles.expect(work.promise.atLeast(.columns(3)), line.answer)
        #expect(marbles.context.liveTimers == 0)
    }

    @Test(
        "F83: at least three columns, errors too",
        arguments: [Line(work: "-x", answer: "---x"), Line(work: "----x", answer: "----x")])
    func atLeastHoldingFailures(line: Line) {
        let marbles = Marbles()
        let work = marbles.source(line.work)
        marbles.expect(work.promise.atLeast(.columns(3), holdingFailures: true), line.answer)
    }

    @Test(
        "F87: delayed by two columns",
        arguments: [Line(work: "-a", answer: "---a"), Line(work: "-x", answer: "-x")])
    func delayed(line: Line) {
        let marbles = Marbles()
        let work = marbles.source(line.work)
        marbles.expect(work.promise.delayed(by: .columns(2)), line.answer)
    }

    @Test("F87: cancelling adelay ends it") func cancellingADelayEndsIt() {
        let marbles = Marbles()
        let held = marbles.source("-a").promise.delayed(by: .columns(5))
        marbles.at(3) { held.cancel() }
        marbles.expect(held, "---!")
        #expect(marbles.context.liveTimers == 0)
    }

    @Test("F81: after", arguments: [(0, "a"), (-4, "a"), (1, "-a"), (3, "---a")])
    func afterFulfilsLater(columns: Int, answer: String) {
        let marbles = Marbles()
        let rang = after(.columns(columns), on: marbles.context).map { Character("a") }
        marbles.expect(rang.promise, answer)
    }

    @Test(
        "F72: the first value wins",
        arguments: [
            (["--a", "-b-"], "-b", ["-!", ""]), (["-x", "---b"], "---b", ["", ""]),
            (["-x", "--y"], "--?", ["", ""]), (["----", "----"], "----", ["", ""]),
        ])
    func race(lines: [String], answer: String, stopped: [String]) {
        let marbles = Marbles()
        let sources = lines.map(marbles.source)
        marbles.expect(Promises.race(sources.map(\.promise)), answer)
        #expect(sources.map(\.stopped) == stopped)
    }

    @Test(
        "F73: the first outcome wins",
        arguments: [(["--a", "-x"], "-x", ["-!", ""]), (["-a", "--x"], "-a", ["", "-!"])])
    func firstSettled(lines: [String], answer: String, stopped: [String]) {
        let marbles = Marbles()
        let sources = lines.map(marbles.source)
        marbles.expect(Promises.firstSettled(sources.map(\.promise)), answer)
        #expect(sources.map(\.stopped) == stopped)
    }

    @Test(
        "F64: all wait for the last value and end with the first error",
        arguments: [
            (["-a", "---b"], "---2", ["", ""]), (["--x", "-----b"], "--x", ["", "--!"]),
        ])
    func all(lines: [String], answer: String, stopped: [String]) {
        let marbles = Marbles()
        let sources = lines.map(marbles.source)
        let count = Promises.all(sources.map(\.promise)).map { Character("\($0.count)") }
        marbles.expect(count, answer)
        #expect(sources.map(\.stopped) == stopped)
    }

    @Test(
        "F68: any waits for everybody",
        arguments: [
            (["-a", "---x"], "---1"), (["-x", "----b"], "----1"), (["x", "-y"], "-?"),
            (["a", "-----"], "-----"),
        ])
    func any(lines: [String], answer: String) {
        let marbles = Marbles()
        let sources = lines.map(marbles.source)
        let members = sources.enumerated().map { (key: $0, promise: $1.promise) }
        marbles.expect(Promises.any(members).map { Character("\($0.values.count)") }, answer)
        #expect(sources.map(\.stopped) == ["", ""])
    }

    @Test("F68: the slowest member of any is bounded by its own timeout")
    func theSlowestMemberOfAnyIsBoundedByItsOwnTimeout() {
        let marbles = Marbles()
        let slow = marbles.source("---------")
        let members = [
            (key: 0, promise: marbles.source("-a").promise),
            (key: 1, promise: slow.promise.timeout(.columns(4))),
        ]
        marbles.expect(Promises.any(members).map { Character("\($0.values.count)") }, "----1")
        #expect(slow.stopped == "----!")
    }
}
