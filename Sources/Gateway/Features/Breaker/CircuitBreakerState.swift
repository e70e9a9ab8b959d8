import Basics

/// The state machine of a circuit breaker, without I/O; its inputs are the outcomes of calls and
/// the time.
///
/// A closed breaker counts calls and failures in a sliding window, and opens at a share of
/// failures. An open breaker refuses calls for a time, and is then half open: it allows one call as
/// a probe, whose outcome closes it or opens it again. Calls whose end says nothing about the
/// backend, such as cancelled ones, are not counted.
///
/// A streamed response has its outcome at the end of its body. A probe whose body takes longer than
/// `try_again_after` is decided by its status, so that a long stream does not keep the breaker half
/// open; its end then counts as the end of any other call.
struct CircuitBreakerState {
    /// Whether a call may be sent.
    enum Admission: Equatable {
        case allowed
        /// Allowed, as the one call of a half-open breaker, with the number of the probe.
        case probe(Int)
        case refused(tryAgainAfter: Duration)
    }

    enum Phase {
        case closed
        case open(until: Instant)
        /// A probe is in flight: the number of the latest one, and what the head of its response
        /// showed.
        case halfOpen(probe: Int, head: Head?)
    }

    /// The head of a response whose body is still streamed.
    struct Head {
        let sample: AttemptSample
        let at: Instant
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
    private var probes = 0

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
        let admission = decideAdmission(at: now)
        assert(admits(admission, at: now), "the phase does not admit the call")
        return admission
    }

    /// Whether the phase agrees with the admission that it has led to. For assertions.
    private func admits(_ admission: Admission, at now: Instant) -> Bool {
        switch (phase, admission) {
        case (.closed, .allowed): true
        case (.halfOpen(let probe, let head), .probe(let number)): probe == number && head == nil
        case (.open(let until), .refused): now < until
        case (.halfOpen, .refused(let wait)): wait > .zero
        case (.closed, _), (.open, _), (.halfOpen, .allowed): false
        }
    }

    private mutating func decideAdmission(at now: Instant) -> Admission {
        if case .halfOpen(_, let head?) = phase, now >= head.at + plan.tryAgainAfter {
            decide(by: head.sample, at: now)
        }
        switch phase {
        case .closed: return .allowed
        case .open(let until) where now >= until:
            probes += 1
            phase = .halfOpen(probe: probes, head: nil)
            return .probe(probes)
        case .open(let until): return .refused(tryAgainAfter: until - now)
        case .halfOpen: return .refused(tryAgainAfter: .seconds(1))
        }
    }

    /// Records the outcome of a call, with the admission that it had.
    mutating func recordCall(_ admission: Admission, _ sample: AttemptSample, at now: Instant) {
        if isPending(admission) { return decide(by: sample, at: now) }
        // Also a probe that was decided by its head.
        switch (admission, sample) {
        case (.allowed, .success), (.probe, .success): count(failures: 0, at: now)
        case (.allowed, .failure), (.probe, .failure):
            count(failures: 1, at: now)
            openIfTooMany(at: now)
        case (.allowed, .none), (.probe, .none), (.refused, _): break
        }
    }

    /// Records what the status of a response shows whose body is still streamed.
    mutating func recordHead(_ admission: Admission, _ sample: AttemptSample, at now: Instant) {
        guard isPending(admission), case .halfOpen(let probe, _) = phase else { return }
        phase = .halfOpen(probe: probe, head: Head(sample: sample, at: now))
    }

    /// Whether a call is the probe that decides.
    private func isPending(_ admission: Admission) -> Bool {
        guard case .probe(let number) = admission, case .halfOpen(let probe, _) = phase else {
            return false
        }
        return number == probe
    }

    private mutating func decide(by sample: AttemptSample, at now: Instant) {
        switch sample {
        case .success:
            phase = .closed
            slices = [Slice](repeating: Slice(), count: slices.count)
        case .failure: phase = .open(until: now + plan.tryAgainAfter)
        case .none: phase = .open(until: now)  // the next call is the probe
        }
    }

    private mutating func count(failures: Int, at now: Instant) {
        let number = now.nanoseconds / sliceNanoseconds
        let index = Int(number % Int64(slices.count))
        if slices[index].number != number { slices[index] = Slice(number: number) }
        slices[index].calls += 1
        slices[index].failures += failures
        assert(slices[index].failures <= slices[index].calls, "more failures than calls")
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
