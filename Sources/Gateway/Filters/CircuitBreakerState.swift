import Basics

/// The state machine of a circuit breaker, without I/O; its inputs are the outcomes of calls and
/// the time.
///
/// A closed breaker counts calls and failures in a sliding window, and opens at a share of
/// failures. An open breaker refuses calls for a time, and is then half open: it allows one call as
/// a probe, whose outcome closes it or opens it again. Calls whose end says nothing about the
/// backend, such as cancelled ones, are not counted.
struct CircuitBreakerState {
    /// Whether a call may be sent.
    enum Admission: Equatable {
        case allowed
        /// Allowed, as the one call of a half-open breaker.
        case probe
        case refused(tryAgainAfter: Duration)
    }

    /// What a call shows about its backend.
    enum Sample {
        case success, failure
        /// Nothing: it was cancelled, or it was refused or failed on this side.
        case none
    }

    enum Phase {
        case closed
        case open(until: Instant)
        /// One probe is in flight.
        case halfOpen
    }

    /// A tenth of the window; old calls leave it slice by slice.
    private struct Slice {
        var number: Int64 = -1
        var calls = 0
        var failures = 0
    }

    private let plan: BreakerPlan
    private let sliceNanoseconds: Int64
    private var slices = [Slice](repeating: Slice(), count: 10)
    private(set) var phase = Phase.closed

    init(_ plan: BreakerPlan) {
        self.plan = plan
        sliceNanoseconds = max(1, plan.window.inNanoseconds / 10)
    }

    /// Open or half open.
    var isOpen: Bool {
        if case .closed = phase { false } else { true }
    }

    /// Called before every call.
    mutating func admitCall(at now: Instant) -> Admission {
        switch phase {
        case .closed: return .allowed
        case .open(let until) where now >= until:
            phase = .halfOpen
            return .probe
        case .open(let until): return .refused(tryAgainAfter: until - now)
        case .halfOpen: return .refused(tryAgainAfter: .seconds(1))
        }
    }

    /// Records the outcome of a call, with the admission that it had.
    mutating func recordCall(_ admission: Admission, _ sample: Sample, at now: Instant) {
        switch (admission, sample) {
        case (.probe, .success):
            phase = .closed
            slices = [Slice](repeating: Slice(), count: slices.count)
        case (.probe, .failure): phase = .open(until: now + plan.tryAgainAfter)
        case (.probe, .none): phase = .open(until: now)  // the next call is the probe
        case (.allowed, .success): count(failures: 0, at: now)
        case (.allowed, .failure):
            count(failures: 1, at: now)
            openIfTooMany(at: now)
        case (.allowed, .none), (.refused, _): break
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
