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
    private let elements: [JSONSlice]
    /// The time of the whole call.
    private let limit: TimeLimit
    private let began: Instant
    private var outcomes: [Outcome]
    private var requests: [SharedRequest] = []
    /// By element, with `batch`.
    private var matchKeys: [[UInt8]?] = []
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

    /// One request, for the elements whose requests would be equal or that are in one batch.
    private struct SharedRequest {
        /// The elements whose values it has.
        let sources: [Int]
        var elements: [Int]
        /// Nil for one with a large body, which is built when it starts.
        var request: ClientRequest?
        /// The attempt whose response was used.
        var attempt: Int?
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
        self.elements = elements
        self.limit = limit
        began = state.loop.now
        outcomes = Array(repeating: .pending, count: elements.count)
        spares =
            elements.count - list.needed(of: elements.count, isRequired: call.plan.isRequired)
        if let batch = list.batch { addBatches(batch) } else { addRequests() }
    }

    /// How many elements share the request of another one.
    var sharedCount: Int { requests.reduce(0) { $0 + $1.elements.count - 1 } }

    // MARK: Requests

    /// Bytes of requests that are compared; later ones are not shared, and kept.
    private static let comparedMax = 1 << 20
    /// Bytes of the body of a request that is kept until it starts.
    private static let keptMax = 4096

    private func addRequests() {
        var known: [[UInt8]: Int] = [:]
        var compared = 0
        for index in elements.indices {
            guard let request = request(for: [index], checking: elements[index]) else { continue }
            if list.isDistinct, compared < Self.comparedMax {
                let identity = request.identity
                compared += identity.count
                if let equal = known[identity] {
                    requests[equal].elements.append(index)
                    continue
                }
                known[identity] = requests.count
            }
            add(request, for: [index], sources: [index])
        }
    }

    /// One request for so many distinct values; elements with equal ones share it.
    private func addBatches(_ batch: ListPlan.Batch) {
        let references = call.plan.references.filter { reference in
            if case .element = reference.source { true } else { false }
        }
        matchKeys = Array(repeating: nil, count: elements.count)
        var order: [[UInt8]] = []
        var sharing: [[UInt8]: [Int]] = [:]
        for index in elements.indices {
            if let obstacle = call.plan.obstacle(in: elements[index]) {
                fail([index], obstacle)
                continue
            }
            let values = CallValues(of: state, element: elements[index])
            let missing = (references + [batch.value]).first { values.text(of: $0.source) == nil }
            guard missing == nil, let key = values.json(of: batch.value.source)?.matchKey else {
                let names = ValueNames(of: state.endpoint.plan)
                fail([index], .skipped(names.reason(naming: missing ?? batch.value)))
                continue
            }
            matchKeys[index] = key
            if sharing[key] == nil { order.append(key) }
            sharing[key, default: []].append(index)
        }
        for start in stride(from: 0, to: order.count, by: batch.size) {
            let keys = order[start..<min(start + batch.size, order.count)]
            let groups = keys.map { sharing[$0] ?? [] }
            let sources = groups.compactMap(\.first)
            let indices = groups.flatMap(\.self)
            guard let request = request(for: indices, sources: sources) else { continue }
            add(request, for: indices, sources: sources)
        }
    }

    private func add(_ request: ClientRequest, for indices: [Int], sources: [Int]) {
        let isSmall = request.bodyCount <= Self.keptMax
        requests.append(
            SharedRequest(
                sources: sources, elements: indices, request: isSmall ? request : nil))
    }

    /// Nil, and the elements have failed, where it cannot be built.
    private func request(for indices: [Int], checking element: JSONSlice) -> ClientRequest? {
        if let obstacle = call.plan.obstacle(in: element) {
            fail(indices, obstacle)
            return nil
        }
        return request(for: indices, sources: indices)
    }

    private func request(for indices: [Int], sources: [Int]) -> ClientRequest? {
        let values =
            list.batch == nil
            ? CallValues(of: state, element: elements[sources[0]])
            : CallValues(of: state, batch: sources.map { elements[$0] })
        do throws(CallFailure) {
            return try call.kind.request(with: values)
        } catch {
            fail(indices, error)
            return nil
        }
    }

    // MARK: Running

    /// Sends the requests; the part has the values of the elements.
    func start() -> LocalPromise<Part> {
        let local = state.context.local
        guard spares >= 0 else { return local.error(recordLoss()) }
        var promises: [LocalPromise<JSONSlice>?] = Array(repeating: nil, count: outcomes.count)
        for index in requests.indices {
            let promise: LocalPromise<JSONSlice>
            if index < list.parallel {
                promise = send(index)
            } else {
                let gate = Gate(on: local)
                gates.append(gate)
                promise = gate.promise.then { [self] in send(index) }
            }
            for element in requests[index].elements { promises[element] = promise }
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
        let shared = requests[index]
        requests[index].request = nil
        guard left > .zero,
            let request = shared.request ?? request(for: shared.elements, sources: shared.sources)
        else {
            return state.context.local.error(settle(index, limit.error))
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
            requests[index].attempt = response.attempt
            let part = try call.kind.part(
                of: response, on: state.loop, reporting: &droppedKeys)
            if !droppedKeys.isEmpty, !hasRecordedKeys {
                hasRecordedKeys = true
                state.recordDropped(droppedKeys, of: call.plan)
            }
            state.recordStoringLimits(response.fields)
            if let batch = list.batch {
                try assign(part.value, to: requests[index].elements, batch)
            } else {
                for element in requests[index].elements { outcomes[element] = .value(part.value) }
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
        for element in elements {
            let value = matchKeys[element].flatMap { byKey[$0] }
            outcomes[element] = value.map { .value($0) } ?? .unmatched
        }
    }

    /// The elements of a request have failed.
    private func settle(_ index: Int, _ error: any Error) -> CallFailure {
        let failure = CallFailure(error)
        // The limit of the whole call ends its other attempts, too.
        if timeLeft <= .zero {
            state.record.endAttempts(of: call.plan.index, failure.kind, at: state.loop.now)
        }
        fail(requests[index].elements, failure)
        openNextGate()
        return failure
    }

    private func fail(_ indices: [Int], _ failure: CallFailure) {
        let failure = list.isOfClient ? failure.asClientError : failure
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

    /// The attempt whose response an element has.
    private func attempt(of element: Int) -> Int? {
        requests.first { $0.elements.contains(element) }?.attempt
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

extension CallFailure {
    /// The client sent the element whose value is missing.
    fileprivate var asClientError: CallFailure {
        if case .skipped(.element(let name)) = self { .skipped(.client(name)) } else { self }
    }
}

extension ClientRequest {
    /// Bytes of the body.
    fileprivate var bodyCount: Int {
        if case .bytes(let content) = body { content.count } else { 0 }
    }
}
