import Basics
import SimReactor

/// A breaker that must be open lets nothing through.
///
/// A model of its own, as far as everything that a breaker learns is known here: until its first
/// opening, while no sample has left its window.
struct BreakerCheck {
    let world: World

    func run() {
        // What a breaker learned under one configuration, it may know under the next.
        guard world.configs.count == 1 else { return }
        let config = world.configs[0]
        for (index, backend) in config.backends.enumerated() {
            guard let breaker = backend.breaker, world.weather.spells.isEmpty else { continue }
            for core in world.cores.map(\.loop.name) {
                let attempts = world.attempts.filter { $0.backend == index && $0.core == core }
                guard let opened = opening(of: breaker, attempts) else { continue }
                let closes = opened + .milliseconds(breaker.tryAgainAfter)
                check(index, core, from: opened, to: closes, config)
            }
        }
    }

    /// When it must have opened for the first time; nil if it need not have.
    private func opening(of breaker: DrawnBreaker, _ attempts: [Attempt]) -> Instant? {
        guard !attempts.contains(where: \.isPoisoned) else { return nil }
        // One that met the end of a kept connection is sent again without a word to the breaker.
        let samples = attempts.filter { $0.before == 0 || !$0.broke }
            .sorted { ($0.ended ?? .never) < ($1.ended ?? .never) }
        guard let first = samples.first?.ended else { return nil }
        var (calls, failures) = (0, 0)
        for attempt in samples {
            guard let ended = attempt.ended, let isFailure = isFailure(attempt),
                (ended - first) * 10 < .milliseconds(breaker.window) * 9
            else { return nil }
            calls += 1
            failures += isFailure ? 1 : 0
            let isMuch = failures * 100 >= breaker.openAtPercent * calls
            if isFailure, calls >= breaker.minRequests, isMuch { return ended }
        }
        return nil
    }

    /// What an attempt told of its backend; nil where that depends on who gave it up.
    private func isFailure(_ attempt: Attempt) -> Bool? {
        switch attempt.act.outcome {
        case .answer(let status, _, _): attempt.read.map { _ in status >= 500 }
        case .fails: wasWanted(attempt) ? true : nil
        case .nothing: nil
        }
    }

    /// Whether its request was still waited for when it ended, and no hedge or timeout can have ended
    /// it.
    private func wasWanted(_ attempt: Attempt) -> Bool {
        guard let number = Int(attempt.mark.dropFirst()), let request = world.requests[number],
            let ended = attempt.ended
        else { return false }
        let endpoint = world.configs[0].endpoints[attempt.call.endpoint]
        let call = endpoint.calls[attempt.call.call]
        let limit = min(call.timeout ?? endpoint.timeout, endpoint.deadline)
        let start = request.read ?? request.began
        // Who holds answers back may have given it up long before it answers.
        guard call.hedgeAfter == nil, endpoint.minDuration == nil,
            ended - start < .milliseconds(limit)
        else { return false }
        let over = [request.answered, request.client.left].compactMap { $0 }.min()
        return over.map { $0 > ended } ?? false
    }

    /// Calls that are made at once when their request begins, while the breaker is open.
    private func check(
        _ backend: Int, _ core: String, from opened: Instant, to closes: Instant,
        _ config: DrawnConfig
    ) {
        for attempt in world.attempts
        where attempt.backend == backend && attempt.core == core && attempt.ordinal == 0 {
            let call = config.endpoints[attempt.call.endpoint].calls[attempt.call.call]
            guard call.waitsFor.isEmpty, let number = Int(attempt.mark.dropFirst()),
                let request = world.requests[number], !request.request.isPipelined,
                let began = request.read, began > opened, began < closes
            else { continue }
            world.violation(
                .limits, attempt.mark, "\(attempt.call.text) went through an open breaker")
        }
    }
}

extension Instant {
    fileprivate static var never: Instant { Instant(nanoseconds: .max) }
}
