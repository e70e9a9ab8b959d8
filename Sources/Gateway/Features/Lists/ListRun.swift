import Basics
import HTTP
import HTTPClient
import JSONText
import Promises
import Reactor

/// The requests of one call with `each`, for one request of a client.
///
/// At most `parallel` requests are in flight; another one starts when one has settled. When too many elements
/// have failed, the requests in flight are cancelled, and no other one starts.
final class ListRun {
    private let call: EndpointCall
    private let list: ListPlan
    private let state: FanOutState
    /// The time of the whole call.
    private let limit: TimeLimit
    private let began: Instant
    private var outcomes: [Outcome]
    private var requests: ListRequests
    /// By request, the attempt whose response was used.
    private var attempts: [Int?]
    /// The requests that have not started, in order.
    private var gates: [Gate] = []
    private var nextGate = 0
    /// How many elements may still fail.
    private var spares: Int
    /// Whether keys that a change of case dropped were recorded.
    private var hasRecordedKeys = false

    /// What became of an element.
    private enum Outcome {
        case pending
        case value(JSONSlice)
        /// The result of a batch has no value for it, which is no failure.
        case unmatched
        case failed(CallFailure)
    }

    /// Holds a request back.
    private final class Gate {
        private var resolver: LocalResolver<Void>?
        let promise: LocalPromise<Void>

        init(on local: LocalContext) {
            let resolver = LocalResolver<Void>(on: local)
            promise = resolver.promise
            self.resolver = consume resolver
        }

        func open() { resolver.take()?.fulfill(()) }

        // Nothing waits for it any more.
        deinit { promise.cancel() }
    }

    init(
        _ call: EndpointCall, _ list: ListPlan, _ elements: [JSONSlice], _ state: FanOutState,
        within limit: TimeLimit
    ) {
        self.call = call
        self.list = list
        self.state = state
        self.limit = limit
        began = state.loop.now
        outcomes = Array(repeating: .pending, count: elements.count)
        spares =
            elements.count - list.needed(of: elements.count, isRequired: call.plan.isRequired)
        requests = ListRequests(
            for: elements, of: call.plan, list, call.kind, ValueNames(of: state.endpoint.plan),
            state)
        attempts = Array(repeating: nil, count: requests.shared.count)
        for (element, failure) in requests.failures { fail([element], failure) }
    }

    /// How many elements share the request of another one.
    var sharedCount: Int { requests.sharedCount }

    // MARK: Running

    /// Sends the requests; the part has the values of the elements.
    func start() -> LocalPromise<Part> {
        let local = state.context.local
        guard spares >= 0 else { return local.error(recordLoss()) }
        var promises: [LocalPromise<JSONSlice>?] = Array(repeating: nil, count: outcomes.count)
        for index in requests.shared.indices {
            let promise: LocalPromise<JSONSlice>
            if index < list.parallel {
                promise = send(index)
            } else {
                let gate = Gate(on: local)
                gates.append(gate)
                promise = gate.promise.then { [self] in send(index) }
            }
            for element in requests.shared[index].elements { promises[element] = promise }
        }
        let inputs = outcomes.indices.map { index in
            (key: index, promise: promises[index] ?? local.error(failure(of: index)))
        }
        let needed = list.needed(of: inputs.count, isRequired: call.plan.isRequired)
        return local.any(inputs, enough: needed).mapResult { [self] result in
            guard case .success = result else { throw recordLoss() }
            return part()
        }
    }

    private var timeLeft: Duration { limit.duration - (state.loop.now - began) }

    private func send(_ index: Int) -> LocalPromise<JSONSlice> {
        // The calls of the request are being cancelled.
        if let failed = state.requiredFailure { return state.context.local.error(failed) }
        let left = timeLeft
        let request: ClientRequest
        do {
            guard left > .zero else { throw limit.error }
            request = try requests.takeRequest(index)
        } catch {
            return state.context.local.error(settle(index, error))
        }
        let attempt = state.record.beginAttempt(of: call.plan.index, .first, at: state.loop.now)
        let context = CallContext(
            deadline: state.deadline, call: call.plan.index, attempt: attempt, proxied: nil)
        return call.send(request, context, within: TimeLimit(left, error: limit.error), state)
            .mapResult { [self] in try receive(index, $0) }
    }

    private func receive(
        _ index: Int, _ result: Result<ClientResponse, any Error>
    ) throws -> JSONSlice {
        do {
            var droppedKeys: [String] = []
            let response = try result.get()
            attempts[index] = response.attempt
            let part = try call.kind.part(
                of: response, on: state.loop, reporting: &droppedKeys)
            if !droppedKeys.isEmpty, !hasRecordedKeys {
                hasRecordedKeys = true
                state.recordDropped(droppedKeys, of: call.plan)
            }
            state.recordStoringLimits(response.fields)
            if let batch = list.batch {
                try assign(part.value, to: requests.shared[index].elements, batch)
            } else {
                let elements = requests.shared[index].elements
                try reserve(part.value.bytes.count * (elements.count - 1))
                for element in elements { outcomes[element] = .value(part.value) }
            }
            openNextGate()
            return part.value
        } catch {
            throw settle(index, error)
        }
    }

    /// Of two results with an equal key the first one counts.
    private func assign(
        _ results: JSONSlice, to elements: [Int], _ batch: ListPlan.Batch
    ) throws(CallFailure) {
        guard results.kind == .array else { throw .invalidShape }
        var byKey: [[UInt8]: JSONSlice] = [:]
        for result in results.elements {
            guard let key = result.value(at: batch.path)?.matchKey, byKey[key] == nil else {
                continue
            }
            byKey[key] = result
        }
        let values = elements.map { requests.matchKeys[$0].flatMap { byKey[$0] } }
        let bytes = values.reduce(0) { $0 + ($1?.bytes.count ?? 0) }
        try reserve(max(0, bytes - results.bytes.count))
        for (element, value) in zip(elements, values) {
            outcomes[element] = value.map { .value($0) } ?? .unmatched
        }
    }

    /// Elements that share a response have its value once each in the response to the client.
    private func reserve(_ count: Int) throws(CallFailure) {
        guard count > 0, !state.context.reserve(count) else { return }
        throw .queueFull
    }

    /// The elements of a request have failed.
    private func settle(_ index: Int, _ error: any Error) -> CallFailure {
        let failure = CallFailure(error)
        // The limit of the whole call ends its other attempts, too.
        if timeLeft <= .zero {
            state.record.endAttempts(of: call.plan.index, failure.kind, at: state.loop.now)
        }
        fail(requests.shared[index].elements, failure)
        openNextGate()
        return failure
    }

    private func fail(_ indices: [Int], _ failure: CallFailure) {
        let failure = list.failure(failure)
        for index in indices {
            if case .failed = outcomes[index] { continue }
            outcomes[index] = .failed(failure)
            spares -= 1
        }
    }

    private func openNextGate() {
        guard spares >= 0, nextGate < gates.count else { return }
        gates[nextGate].open()
        nextGate += 1
    }

    // MARK: Result

    private func failure(of index: Int) -> CallFailure {
        if case .failed(let failure) = outcomes[index] { failure } else { .cancelled }
    }

    private var failures: FailedElements? {
        FailedElements(
            outcomes.indices.filter { if case .failed = outcomes[$0] { true } else { false } })
    }

    /// Too many elements have failed: the call fails like the first one of them.
    private func recordLoss() -> FailedCall {
        state.recordList(
            outcomes.map { _ in ListValue(call.plan.elementFallback, isPart: false) }, of: call.plan
        )
        // The other requests are cancelled, which says nothing about their hosts.
        state.record.endAttempts(of: call.plan.index, .cancelled, at: state.loop.now)
        let failures = failures
        recordFailed(failures)
        let first = failures?.first.first
        return state.recordFailure(
            first.map(failure) ?? .cancelled, of: call.plan, from: first.flatMap(attempt),
            elements: failures)
    }

    private func part() -> Part {
        let values = outcomes.map { outcome in
            if case .value(let value) = outcome { return ListValue(value, isPart: true) }
            return ListValue(call.plan.elementFallback, isPart: false)
        }
        state.recordList(values, of: call.plan)
        let failures = failures
        recordFailed(failures)
        if let failures, let first = failures.first.first {
            state.recordFailedElements(failure(of: first), failures, of: call.plan)
        }
        let part = Part(
            value: JSONSlice(elements: values.compactMap(\.value)), fields: Fields())
        // Metrics and logs have one status for all of them.
        let first = outcomes.firstIndex { if case .value = $0 { true } else { false } }
        state.recordPart(part, of: call.plan, from: first.flatMap(attempt))
        return part
    }

    private func recordFailed(_ failures: FailedElements?) {
        guard let failures else { return }
        let responses = requests.shared.indices.filter { index in
            guard let element = requests.shared[index].elements.first else { return false }
            return if case .failed = outcomes[element] { true } else { false }
        }.compactMap { attempts[$0] }
        state.record.recordFailedElements(
            failures.count, of: call.plan.index, responses: responses)
    }

    /// The attempt whose response an element has.
    private func attempt(of element: Int) -> Int? {
        requests.shared.firstIndex { $0.elements.contains(element) }.flatMap { attempts[$0] }
    }
}

extension CallPlan {
    /// The value of an element whose request failed; nil for none.
    fileprivate var elementFallback: JSONSlice? {
        switch fallback {
        case .omit: nil
        case .value(let value): value
        }
    }
}
