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

// Everything runs on the thread of a loop of NIO's, where its futures are at their best.
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let eventLoop = group.next()
try eventLoop.submit { [report] in
    let loop = Loop()
    let chains = Chains(loop: loop, eventLoop: eventLoop, tasks: Tasks())
    let rows = GoogleRows(loop: loop, eventLoop: eventLoop)
    let nio = "NIO EventLoopFuture"
    report.print(
        Case(title: "Resolver and promise", contenders: chains.long(links: 0)),
        beside: [nio])
    report.print(
        Case(title: "Resolver, promise, one `map`", contenders: chains.contenders(links: 1)),
        beside: [nio])
    report.print(
        Case(
            title: "One more link", unitsPerTime: 10,
            contenders: chains.contenders(links: 11, base: 1)),
        beside: [nio])
    report.print(
        Case(
            title: "One more link that captures", unitsPerTime: 10,
            contenders: chains.capturing(links: 11, base: 1)),
        beside: [nio])
    report.print(
        Case(
            title: "Fan-out to three and back",
            contenders: FanOut(loop: loop, eventLoop: eventLoop, tasks: Tasks()).contenders),
        beside: ["NIO `whenAllComplete`", "TaskGroup"])
    for blocks in 1...3 {
        report.print(
            Case(title: "\(blocks) block\(blocks > 1 ? "s" : "")", contenders: rows.blocks(blocks)),
            beside: [nio])
    }
    report.print(
        Case(
            title: "10,000 pending, each", unitsPerTime: 10_000, contenders: rows.pending(10_000)),
        beside: [nio])
    for links in [10, 1_000, 100_000, 1_000_000] {
        report.print(
            Case(
                title: "A chain of \(links) links, each", unitsPerTime: Double(links),
                contenders: chains.long(links: links)),
            beside: [nio])
    }
}.wait()
try group.syncShutdownGracefully()
