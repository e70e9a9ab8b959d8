extension Report.Target {
    /// The goals of the library's cost, compared with other libraries.
    static let all: [Report.Target] = [
        .init(title: "one more link", reference: "EventLoopFuture", must: 0.65, goal: 0.45),
        .init(title: "fan-out to three", reference: "EventLoopFuture", must: 1, goal: 0.5),
        .init(
            title: "fan-out to three, from the loop", reference: "TaskGroup", must: 0.2, goal: 0.1),
        .init(
            title: "10,000 pending with a block, each", reference: "EventLoopFuture", must: 1,
            goal: 0.65),
    ]
}
