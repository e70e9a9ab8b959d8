import HTTP
import Promises

/// The promised parts of the calls of one request that have been started, each with its call's index; what
/// later calls wait for.
struct StartedCalls {
    private let calls: [EndpointCall]
    private(set) var promises: [(key: Int, promise: LocalPromise<Part>)] = []

    private let local: LocalContext

    /// - Parameter calls: the calls of the endpoint
    init(of calls: [EndpointCall], on local: LocalContext) {
        self.calls = calls
        self.local = local
        promises.reserveCapacity(calls.count)
    }

    var isEmpty: Bool { promises.isEmpty }

    mutating func append(_ part: LocalPromise<Part>, of call: Int) {
        promises.append((key: call, promise: part))
    }

    /// Calls a closure when a call settles, before what waits for all of them.
    mutating func observe(_ observe: @escaping (Int, Result<Part, any Error>) -> Void) {
        promises = promises.map { call, promise in
            let observed = promise.mapResult { result in
                observe(call, result)
                return try result.get()
            }
            return (key: call, promise: observed)
        }
    }

    /// The part of a call; nil where `when` disabled the call.
    func part(of call: Int) -> LocalPromise<Part>? {
        for (key, promise) in promises where key == call { return promise }
        return nil
    }

    /// Fulfilled when each of these calls has settled, whatever its outcome; without calls that
    /// are disabled already. The values of a call that failed are missing.
    func settled(_ indices: [Int]) -> [LocalPromise<Void>] {
        indices.compactMap { index in
            part(of: index)?.asVoid().recover { [local] error in
                if error is Cancelled { throw error }
                return local.value(())
            }
        }
    }

    /// The parts whose values a call uses, and the parts of the calls in its `after`. A disabled call has
    /// none. They reject with the failure of the waiting call.
    func needed(by call: CallPlan) -> [LocalPromise<Part>] {
        call.needs.compactMap { index in
            guard let part = part(of: index) else { return nil }
            let skipped = skipped(index)
            guard !calls[index].plan.conditionCalls.isEmpty, !call.uses.contains(index) else {
                return part.mapError { $0 is Cancelled ? $0 : skipped }
            }
            return part.recover { [local] error in
                if error is DisabledCall { return local.value(.nothing) }
                throw error is Cancelled ? error : skipped
            }
        }
    }

    /// The failure of a call that waits for this one, which failed.
    func skipped(_ index: Int) -> CallFailure { .skipped(.call(calls[index].plan.name)) }
}

/// The error of a call that its condition disabled after others had settled. It is no failure, and
/// no report has it.
struct DisabledCall: Error {}
