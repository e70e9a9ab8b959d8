import Basics
import HTTP
import HTTPClient
import JSONText
import Promises
import Reactor

/// The requests of one call with `each`, for one request of a client.
///
/// At most `parallel` are in flight; another one starts when one has settled. When the result can no longer have
/// enough values, or is no longer needed, the others are cancelled, and the rest does not start.
final class ListRun {
    private let call: EndpointCall
    private let list: ListPlan
    private let state: FanOutState
    /// The time of the whole call.
    private let limit: TimeLimit
    private let began: Instant
    private var outcomes: [Outcome]
    private var requests: [Request] = []
    /// Of the elements of batches.
    private var matchKeys: [[UInt8]?] = []
    /// For requests that have not started.
    private var gates: [Gate] = []
    private var nextGate = 0

    private enum Outcome {
        case pending
        case value(JSONSlice)
        /// The result of a batch has no value for it, which is no failure.
        case unmatched
        case failed(CallFailure)
    }

    /// One for the elements whose requests would be equal.
    private struct Request {
        let request: ClientRequest
        var elements: [Int]
    }

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
        if let batch = list.batch {
            addBatches(batch, elements)
        } else {
            var known: [[UInt8]: Int] = [:]
            for (index, element) in elements.enumerated() { add(element, index, &known) }
        }
    }

    // MARK: Requests

    /// One request for so many distinct values; elements with equal ones share it.
    private func addBatches(_ batch: ListPlan.Batch, _ elements: [JSONSlice]) {
        let references = call.plan.references.filter { reference in
            if case .element = reference.source { true } else { false }
        }
        let names = ValueNames(of: state.endpoint.plan)
        matchKeys = Array(repeating: nil, count: elements.count)
        var order: [[UInt8]] = []
        var sharing: [[UInt8]: [Int]] = [:]
        for (index, element) in elements.enumerated() {
            if let obstacle = call.plan.obstacle(in: element) {
                outcomes[index] = .failed(obstacle)
                continue
            }
            let values = CallValues(of: state, element: element)
            let missing = (references + [batch.value]).first { values.text(of: $0.source) == nil }
            guard missing == nil, let key = values.json(of: batch.value.source)?.matchKey else {
                let reason = names.reason(naming: missing ?? batch.value)
                outcomes[index] = .failed(inClientTerms(.skipped(reason)))
                continue
            }
            matchKeys[index] = key
            if sharing[key] == nil { order.append(key) }
            sharing[key, default: []].append(index)
        }
        for start in stride(from: 0, to: order.count, by: batch.size) {
            let keys = order[start..<min(start + batch.size, order.count)]
            let groups = keys.map { sharing[$0] ?? [] }
            addRequest(
                with: CallValues(of: state, batch: groups.compactMap(\.first).map { elements[$0] }),
                for: groups.flatMap(\.self))
        }
    }

    private func addRequest(with values: CallValues, for indices: [Int]) {
        do throws(CallFailure) {
            requests.append(
                Request(request: try call.kind.request(with: values), elements: indices))
        } catch {
            for index in indices { outcomes[index] = .failed(inClientTerms(error)) }
        }
    }

    private func inClientTerms(_ failure: CallFailure) -> CallFailure {
        list.isOfClient ? failure.asClientError : failure
    }

    /// Builds the request of an element, or finds the equal one of another element.
    private func add(_ element: JSONSlice, _ index: Int, _ known: inout [[UInt8]: Int]) {
        if let obstacle = call.plan.obstacle(in: element) {
            outcomes[index] = .failed(obstacle)
            return
        }
        do throws(CallFailure) {
            let request = try call.kind.request(with: CallValues(of: state, element: element))
            if list.isDistinct {
                let identity = request.identity
                if let equal = known[identity] {
                    requests[equal].elements.append(index)
                    return
                }
                known[identity] = requests.count
            }
            requests.append(Request(request: request, elements: [index]))
        } catch {
            outcomes[index] = .failed(inClientTerms(error))
        }
    }

    /// The values of the elements, of which enough are there.
    func start() -> LocalPromise<Part> {
        let local = state.context.local
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
        return local.any(inputs, enough: needed).mapResult { [self] in try part(of: $0) }
    }

    private func send(_ index: Int) -> LocalPromise<JSONSlice> {
        let left = limit.duration - (state.loop.now - began)
        guard left > .zero else {
            return state.context.local.error(fail(index, limit.error))
        }
        let context = CallContext(
            deadline: state.deadline, call: call.plan.index,
            attempt: state.record.beginAttempt(of: call.plan.index, .first, at: state.loop.now),
            proxied: nil)
        return call.send(
            requests[index].request, context, within: TimeLimit(left, error: limit.error), state
        ).mapResult { [self] in try finish(index, $0) }
    }

    private func finish(
        _ index: Int, _ result: Result<ClientResponse, any Error>
    ) throws -> JSONSlice {
        do {
            var droppedKeys: [String] = []
            let part = try call.kind.part(
                of: result.get(), on: state.loop, reporting: &droppedKeys)
            if !droppedKeys.isEmpty { state.recordDropped(droppedKeys, of: call.plan) }
            if let batch = list.batch {
                try assign(part.value, to: requests[index].elements, batch)
            } else {
                for element in requests[index].elements { outcomes[element] = .value(part.value) }
            }
            startNext()
            return part.value
        } catch {
            throw fail(index, error)
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

    private func fail(_ index: Int, _ error: any Error) -> CallFailure {
        let failure = CallFailure(error)
        for element in requests[index].elements { outcomes[element] = .failed(failure) }
        startNext()
        return failure
    }

    private func startNext() {
        guard nextGate < gates.count else { return }
        gates[nextGate].open()
        nextGate += 1
    }

    private func failure(of index: Int) -> CallFailure {
        if case .failed(let failure) = outcomes[index] { failure } else { .cancelled }
    }

    // MARK: Result

    private func part(of result: Result<AnyResult<Int, JSONSlice>, any Error>) throws -> Part {
        if case .failure(let error) = result, error is Cancelled {
            throw state.recordFailure(error, of: call.plan)
        }
        let failures = FailedElements(
            outcomes.indices.filter { if case .failed = outcomes[$0] { true } else { false } })
        let hasEnough = if case .success = result { true } else { false }
        let values = outcomes.map { outcome -> JSONSlice? in
            if hasEnough, case .value(let value) = outcome { return value }
            return call.plan.elementFallback
        }
        state.recordList(values, of: call.plan)
        guard hasEnough, let failures else {
            guard !hasEnough else { return part(with: values) }
            let first = failures.map { failure(of: $0.first[0]) } ?? .cancelled
            throw state.recordFailure(first, of: call.plan, elements: failures)
        }
        state.recordFailedElements(
            failure(of: failures.first[0]), failures, of: call.plan)
        return part(with: values)
    }

    private func part(with values: [JSONSlice?]) -> Part {
        let part = Part(value: JSONSlice(elements: values.compactMap(\.self)), fields: Fields())
        state.recordPart(part, of: call.plan, from: nil)
        return part
    }
}

/// The elements of a list whose values are missing.
struct FailedElements {
    let count: Int
    /// At most ten, ascending.
    let first: [Int]

    init(count: Int, first: [Int]) {
        self.count = count
        self.first = first
    }

    /// Nil for none.
    init?(_ indices: [Int]) {
        guard !indices.isEmpty else { return nil }
        count = indices.count
        first = Array(indices.prefix(10))
    }
}

extension EndpointCall {
    /// Makes a request for each element; the part is an array.
    func startList(_ list: ListPlan, _ state: FanOutState) -> LocalPromise<Part> {
        do throws(CallFailure) {
            var left = 0
            let elements = try list.elements(
                in: state, ValueNames(of: state.endpoint.plan), left: &left)
            if left > 0 { state.recordTruncation(of: plan, by: left) }
            state.recordBegin(of: plan)
            guard !elements.isEmpty else {
                state.recordList([], of: plan)
                let part = Part(value: .emptyArray, fields: Fields())
                state.recordPart(part, of: plan, from: nil)
                return state.context.local.value(part)
            }
            return ListRun(self, list, elements, state, within: try wholeLimit(state)).start()
        } catch {
            return state.context.local.error(failCall(error, state))
        }
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

extension ClientRequest {
    /// Equal for requests that are equal byte for byte.
    fileprivate var identity: [UInt8] {
        var identity: [UInt8] = []
        identity.append(copying: target.text.span)
        for (name, value) in fields {
            identity.append(UInt8(ascii: "\n"))
            identity.append(name)
            identity.append(UInt8(ascii: ":"))
            identity.append(value)
        }
        identity += [UInt8(ascii: "\n"), UInt8(ascii: "\n")]
        if case .bytes(let content) = body { identity.append(content) }
        return identity
    }
}

extension JSONSlice {
    /// Equal for equal values of one type, as in conditions; nil for null, objects and arrays.
    fileprivate var matchKey: [UInt8]? {
        switch kind {
        case .string: return text.map { [UInt8(ascii: "s")] + $0.array }
        case .boolean: return bytes.array
        case .number:
            var key = [UInt8(ascii: "n")]
            DecimalText(bytes.span)?.appendCanonical(to: &key)
            return key
        case .null, .object, .array: return nil
        }
    }
}

extension CallFailure {
    /// The client sent the element whose value is missing.
    fileprivate var asClientError: CallFailure {
        if case .skipped(.element(let name)) = self { .skipped(.client(name)) } else { self }
    }
}
