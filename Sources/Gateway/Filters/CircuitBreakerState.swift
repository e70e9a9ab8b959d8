import Basics

/// When a backend is left alone: a pure machine, told of every call and of the time.
///
/// Closed, it counts calls and failures in a sliding window and opens at a share of failures. Open,
/// it refuses for a while; then one probe goes through, and its outcome decides. Calls that say
/// nothing of the backend (cancelled by us) are not counted.
struct CircuitBreakerState {
    /// The answer to "may this call go?"
    enum Permit: Equatable {
        case go
        /// The one call of a half-open breaker.
        case probe
        case refused(tryAgainAfter: Duration)
    }

    /// What a call told of its backend.
    enum Sample {
        case success, failure
        /// Nothing: it was given up before an answer.
        case none
    }

    private enum Phase {
        case closed
        case open(until: Instant)
        case probing
    }

    /// The window in ten slices: old calls leave it a tenth at a time.
    private struct Slice {
        var number: Int64 = -1
        var calls = 0
        var failures = 0
    }

    private let plan: BreakerPlan
    private let sliceNanoseconds: Int64
    private var slices = [Slice](repeating: Slice(), count: 10)
    private var phase = Phase.closed

    init(_ plan: BreakerPlan) {
        self.plan = plan
        sliceNanoseconds = max(1, plan.window.inNanoseconds / 10)
    }

    /// Refusing, or waiting for its probe.
    var isOpen: Bool {
        if case .closed = phase { false } else { true }
    }

    /// Asked before every call.
    mutating func permit(at now: Instant) -> Permit {
        switch phase {
        case .closed: return .go
        case .open(let until) where now >= until:
            phase = .probing
            return .probe
        case .open(let until): return .refused(tryAgainAfter: until - now)
        case .probing: return .refused(tryAgainAfter: .seconds(1))
        }
    }

    /// Told after every call that was let through.
    mutating func ended(_ permit: Permit, _ sample: Sample, at now: Instant) {
        switch (permit, sample) {
        case (.probe, .success):
            phase = .closed
            slices = [Slice](repeating: Slice(), count: slices.count)
        case (.probe, .failure): phase = .open(until: now + plan.tryAgainAfter)
        case (.probe, .none): phase = .open(until: now)  // the next call is the probe
        case (.go, .success): count(failures: 0, at: now)
        case (.go, .failure):
            count(failures: 1, at: now)
            openIfTooMany(at: now)
        case (.go, .none), (.refused, _): break
        }
    }

    private mutating func count(failures: Int, at now: Instant) {
        let number = now.nanoseconds / sliceNanoseconds
        let index = Int(number % Int64(slices.count))
        if slices[index].number != number { slices[index] = Slice(number: number) }
        slices[index].calls += 1
        slices[index].failures += failures
    }

    private mutating func openIfTooMany(at now: Instant) {
        guard case .closed = phase else { return }
        let oldest = now.nanoseconds / sliceNanoseconds - Int64(slices.count)
        var calls = 0
        var failures = 0
        for slice in slices where slice.number > oldest {
            calls += slice.calls
            failures += slice.failures
        }
        guard calls >= plan.requestsMin, Double(failures) >= plan.openAt * Double(calls) else {
            return
        }
        phase = .open(until: now + plan.tryAgainAfter)
    }
}
