import Basics
import HTTP
import JSONText
import Promises

/// The response to one request as a stream of records, one for each member, in the order in which they
/// are complete. Confined to its worker.
///
/// The head is sent when all required calls have succeeded, without one when the first call has
/// succeeded; until then every failure is a response of its own. A last record says whether nothing
/// failed. Its promises and the sink retain it until all calls have settled.
final class PartStream: BodySource, Cancellable {
    private let plan: PartsPlan
    private let format: PartFormat
    private let state: FanOutState
    private let aggregator: ResponseAggregator
    /// Gets the response with the head, or the problem in place of it.
    private var response: LocalResolver<Response>?
    /// The response to the failure of the request.
    private let problem: (any Error) throws -> Response
    private var calls: LocalPromise<AnyResult<Int, Part>>?

    /// What became of each call that has settled: its part, its failure, or that it is disabled.
    private var outcomes: [Int: Result<Part, any Error>] = [:]
    /// The members that are complete, and wait for the head or are sent now, by index.
    private var complete: [Int] = []
    private var isQueued: [Bool]
    private var hasRootMembers = false

    /// All calls have settled.
    private var hasEnded = false
    private var isOver = false
    /// Why the response ends without its last record.
    private var failure: (any Error)?
    /// Records that the sink has not got.
    private var unsent: [UInt8] = []
    private var sink: (any BodySink)?
    private var isPaused = false

    private init(
        _ plan: PartsPlan, _ format: PartFormat, _ state: FanOutState,
        _ aggregator: ResponseAggregator, problem: @escaping (any Error) throws -> Response
    ) {
        self.plan = plan
        self.format = format
        self.state = state
        self.aggregator = aggregator
        self.problem = problem
        isQueued = Array(repeating: false, count: plan.members.count)
    }

    /// Runs the calls of a request; promises the response, whose body is the stream.
    ///
    /// - Parameter problem: the response to the failure of the request
    static func run(
        _ plan: PartsPlan, as format: PartFormat, _ state: FanOutState, _ fanOut: FanOut,
        _ aggregator: ResponseAggregator,
        problem: @escaping (any Error) throws -> Response
    ) -> LocalPromise<Response> {
        let resolver = LocalResolver<Response>(on: state.context.local)
        let promise = resolver.promise
        let stream = PartStream(plan, format, state, aggregator, problem: problem)
        resolver.onCancel(cancel: stream)
        stream.response = consume resolver
        stream.run(fanOut)
        return promise
    }

    private func run(_ fanOut: FanOut) {
        state.stream = .beforeHead
        let calls = fanOut.runCalls(state) { [self] call, result in settle(call, result) }
        self.calls = calls
        noteDisabledCalls()
        calls.whenSettled { [self] result in
            self.calls = nil
            switch result {
            case .success: end()
            case .failure(let error): fail(error)
            }
        }
    }

    // MARK: Calls

    private func settle(_ call: Int, _ result: Result<Part, any Error>) {
        guard !isOver else { return }
        outcomes[call] = result
        noteDisabledCalls()
        addCompleteMembers()
        sendCompleteMembers()
    }

    /// A call that its condition disables at once has no promise.
    private func noteDisabledCalls() {
        for call in state.endpoint.plan.calls
        where outcomes[call.index] == nil && !state.isEnabled(call) {
            outcomes[call.index] = .failure(DisabledCall())
        }
    }

    private func hasSettled(_ calls: [Int]) -> Bool { calls.allSatisfy { outcomes[$0] != nil } }

    private func addCompleteMembers() {
        for (index, member) in plan.members.enumerated()
        where !isQueued[index] && hasSettled(member.calls) {
            isQueued[index] = true
            complete.append(index)
        }
    }

    // MARK: Head

    /// Whether no failure can be the response any more: a call has succeeded, and so have all required ones, whose
    /// parts can be placed.
    private var isDecided: Bool {
        func hasSucceeded(_ call: Int) -> Bool { (try? outcomes[call]?.get()) != nil }
        let calls = state.endpoint.plan.calls
        return calls.contains { hasSucceeded($0.index) } && hasSettled(plan.placingCalls)
            && calls.filter(\.isRequired).allSatisfy { call in
                if case .failure(let error)? = outcomes[call.index] { return error is DisabledCall }
                return hasSucceeded(call.index)
            }
    }

    private var isHeadSent: Bool { state.stream == .afterHead }

    private func sendHead() {
        guard let resolver = response.take() else { return }
        state.stream = .afterHead
        state.recordFirstPart()
        let fields = aggregator.streamFields(of: format, result(of: outcomes.keys), state)
        guard state.head.method != .head else {
            isOver = true
            calls.take()?.cancel()
            state.recordResponse()
            return resolver.fulfill(
                Response(status: .ok, fields: fields, body: .described(length: nil)))
        }
        resolver.fulfill(Response(status: .ok, fields: fields, body: .stream(self)))
    }

    // MARK: Records

    private func sendCompleteMembers() {
        guard hasEnded || isHeadSent && !isPaused || !isHeadSent && isDecided else { return }
        do {
            if !isHeadSent, !plan.placingCalls.isEmpty { try checkPlaces() }
            let records = try completeRecords()
            if !isHeadSent { sendHead() }
            unsent += records
            deliver()
        } catch {
            // The part of a required call cannot be used.
            calls.take()?.cancel()
            fail(error)
        }
    }

    /// Throws if the part of a required call cannot be placed.
    private func checkPlaces() throws {
        let calls = state.endpoint.plan.calls
        _ = try aggregator.members(
            from: result(of: plan.placingCalls),
            filling: calls.filter { !Set($0.lists).isDisjoint(with: plan.placingCalls) }, state)
    }

    /// The records of the members that are complete and were not sent.
    private func completeRecords() throws -> [UInt8] {
        let isRootComplete =
            !plan.rootCalls.isEmpty && !hasRootMembers && hasSettled(plan.rootCalls)
        guard !complete.isEmpty || isRootComplete else { return [] }
        let members = complete.map { plan.members[$0] }
        complete = []
        let contributing = Set(members.flatMap(\.calls) + plan.rootCalls)
        let filled = state.endpoint.plan.calls.filter { call in
            !call.lists.isEmpty && contributing.contains(call.index)
                && call.lists.allSatisfy(contributing.contains)
        }
        let body = try aggregator.members(
            from: result(of: contributing), filling: filled, state)
        var values: [[UInt8]: JSONSlice] = [:]
        var order: [[UInt8]] = []
        for member in body.members {
            let key = member.key.unescaped.array
            if values[key] == nil { order.append(key) }
            values[key] = member.value
        }
        var records: [UInt8] = []
        for member in members {
            if let call = failedCall(of: member) {
                appendFailure(of: call, named: member.name, to: &records)
            } else if let value = values[member.name.plain.array] {
                append(value, named: member.name, to: &records)
            }
        }
        if isRootComplete {
            hasRootMembers = true
            let known = Set(plan.members.map { $0.name.plain.array })
            for key in order where !known.contains(key) {
                guard let value = values[key] else { continue }
                append(value, named: JSONName(String(decoding: key, as: UTF8.self)), to: &records)
            }
        }
        return records
    }

    /// The only call of a member if it has failed, and nothing else has the member. With `report: off` no
    /// response says which call failed.
    private func failedCall(of member: PartsPlan.Member) -> Int? {
        guard let call = member.onlyCall, state.reportedFailure(of: call) != nil,
            state.endpoint.plan.report != .off
        else { return nil }
        let key = member.name.plain
        let isInRoot = plan.rootCalls.contains { root in
            guard state.endpoint.plan.calls[root].placement == .root,
                let part = try? outcomes[root]?.get()
            else { return false }
            return part.value.members.contains { $0.key.means(key) }
        }
        return isInRoot ? nil : call
    }

    private func result(of calls: some Sequence<Int>) -> AnyResult<Int, Part> {
        AnyResult(
            calls.sorted().compactMap { call in
                outcomes[call].map { (key: call, result: $0) }
            })
    }

    private func append(_ value: JSONSlice, named name: JSONName, to records: inout [UInt8]) {
        append(#","value":"#, named: name, to: &records) { $0.append(json: value) }
    }

    private func appendFailure(of call: Int, named name: JSONName, to records: inout [UInt8]) {
        guard let failure = state.reportedFailure(of: call) else { return }
        append(#","failure":"#, named: name, to: &records) { record in
            record.append(
                failure, exposingDetails: state.endpoint.plan.exposesDetails, namesCall: false)
        }
    }

    private func append(
        _ key: StaticString, named name: JSONName, to records: inout [UInt8],
        _ write: (inout [UInt8]) -> Void
    ) {
        format.append(to: &records) { record in
            record.append(literal: #"{"part":"#)
            record.append(jsonString: String(name.plain))
            record.append(literal: key)
            write(&record)
            record.append(UInt8(ascii: "}"))
        }
    }

    // MARK: End

    private func end() {
        guard !isOver else { return }
        hasEnded = true
        noteDisabledCalls()
        addCompleteMembers()
        sendCompleteMembers()
        guard !isOver else { return }
        let isComplete = state.reportedFailures(of: state.endpoint.plan).isEmpty
        state.record.isPartial = !isComplete
        format.append(to: &unsent) { record in
            record.append(literal: #"{"end":true,"complete":"#)
            record.append(literal: isComplete ? "true}" : "false}")
        }
        state.recordResponse()
        isOver = true
        deliver()
    }

    private func fail(_ error: any Error) {
        guard !isOver else { return }
        isOver = true
        guard let resolver = response.take() else {
            failure = error
            return deliver()
        }
        switch Result(catching: { try problem(error) }) {
        case .success(let response): resolver.fulfill(response)
        case .failure(let error): resolver.reject(error)
        }
    }

    // MARK: Delivery

    var framing: BodyFraming { .chunked }
    var worksForRequest: Bool { true }

    func startDelivery(to sink: any BodySink) {
        self.sink = sink
        state.context.local.value(()).whenSettled { [self] _ in deliver() }
    }

    /// A sink that takes nothing gets the rest as its last piece, as a document would be.
    private func deliver() {
        guard let sink, isOver || !isPaused else { return }
        if !unsent.isEmpty {
            let piece = unsent
            unsent = []
            sink.bodyReceived(piece.span)
        }
        guard isOver, self.sink != nil else { return }
        self.sink = nil
        if let failure { sink.bodyFailed(failure) } else { sink.bodyEnded(trailers: Fields()) }
    }

    func pause() { isPaused = true }

    func resume() {
        isPaused = false
        deliver()
        if !isOver { sendCompleteMembers() }
    }

    func cancel() { cancel(because: nil) }

    /// The client waits no longer.
    func cancel(because cause: (any Error)?) {
        sink = nil
        isOver = true
        unsent = []
        calls.take()?.cancel(because: cause)
        response.take()?.reject(Cancelled(because: cause))
    }
}
