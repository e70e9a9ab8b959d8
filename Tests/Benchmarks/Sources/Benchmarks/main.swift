import Foundation
import NIOCore
import NIOPosix

var meter = Meter()
var report = Report()
var options = CommandLine.arguments.dropFirst()
while let option = options.popFirst() {
    switch option {
    case "--quick": (meter.rounds, meter.nanosecondsPerSample) = (9, 1e6)
    case "--wall": meter.clock = CLOCK_MONOTONIC
    case "--case": report.onlyCase = options.popFirst()
    case "--contender": report.onlyContender = options.popFirst()
    default:
        print("usage: Benchmarks [--quick] [--wall] [--case PART] [--contender PART]")
        exit(64)
    }
}
report.meter = meter

// Everything runs on the thread of a NIO event loop, where NIO's futures are fastest.
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let eventLoop = group.next()
try eventLoop.submit { [report] in
    var report = report
    let loop = Loop()
    let chains = Chains(loop: loop, eventLoop: eventLoop, tasks: Tasks())
    let fanOut = FanOut(loop: loop, eventLoop: eventLoop, tasks: Tasks())
    let rows = GoogleRows(loop: loop, eventLoop: eventLoop)
    report.printHeader()
    report.add(Case(title: "resolver and promise", contenders: chains.long(links: 0)))
    report.add(Case(title: "the same and one `map`", contenders: chains.contenders(links: 1)))
    report.add(
        Case(
            title: "one more link", unitsPerTime: 10,
            contenders: chains.contenders(links: 11, base: 1)))
    report.add(
        Case(
            title: "one more link that captures", unitsPerTime: 10,
            contenders: chains.capturing(links: 11, base: 1)))
    report.add(Case(title: "fan-out to three", contenders: fanOut.contenders))
    report.add(Case(title: "fan-out to three, from the loop", contenders: fanOut.fromTheLoop))
    for blocks in 1...3 {
        report.add(
            Case(
                title: "into block \(blocks) of a settled promise",
                contenders: rows.blocks(blocks)))
    }
    report.add(
        Case(
            title: "10,000 pending with a block, each", unitsPerTime: 10_000,
            contenders: rows.pending(10_000)))
    for (links, name) in [
        (10, "10"), (1_000, "1,000"), (100_000, "100,000"), (1_000_000, "1,000,000"),
    ] {
        report.add(
            Case(
                title: "chain of \(name), each link", unitsPerTime: Double(links),
                contenders: chains.long(links: links)))
    }
    report.compare(with: Report.Target.all)
}.wait()
try group.syncShutdownGracefully()
