import Basics
import HTTP
package import JSONText
import Promises

/// Builds the response from the parts of all calls: required parts must be present, a failed
/// optional call contributes its `if_failed`, and a report lists what failed or was dropped.
struct ResponseAggregator {
    private let plan: EndpointPlan
    private let calls: [NamedCall]
    /// Bytes of all names, with a separator each.
    private let namesCount: Int
    /// The keys that merged objects must not have; none if nothing is merged.
    private let reserved: [JSONName]
    /// Compared here, since a comparison of another module's type is a call.
    private let reportsInBody: Bool
    private let reportsInHeader: Bool
    /// The calls whose parts belong below the root.
    private let placedCalls: [NamedCall]
    /// Whether a member of the root may be added twice.
    private let mayRepeatNames: Bool
    private let requiredCalls: [CallPlan]
    /// The calls that relay header lines.
    private let relayingCalls: [CallPlan]
    private let respond: RespondPlan?

    init(_ plan: EndpointPlan) {
        self.plan = plan
        calls = plan.calls.map { NamedCall($0) }
        namesCount = calls.reduce(0) { $0 + $1.name.written.count + 1 }
        let names = calls.map(\.name.plain)
        reserved = plan.calls.contains { $0.placement == .root } ? [FailureReport.name] : []
        placedCalls = calls.filter { !$0.path.isEmpty }
        mayRepeatNames = calls.indices.contains { names[..<$0].contains(names[$0]) }
        reportsInBody = plan.report == .body
        reportsInHeader = plan.report == .header
        requiredCalls = plan.calls.filter(\.isRequired)
        relayingCalls = plan.calls.filter { !$0.relayHeaders.isEmpty }
        respond = plan.respond
    }

    func response(from result: AnyResult<Int, Part>, _ state: FanOutState) throws -> Response {
        if calls.isEmpty, let respond { return fixedResponse(respond, state) }
        try result.requireParts(of: requiredCalls, state)
        if plan.hasLists { for call in plan.calls { try fillElements(of: call, state) } }
        let root = respond?.rootBody(state)
        var dropped: [ReportedFailure] = []
        var body =
            if root == nil { try aggregate(result, state, &dropped) } else { JSONObjectBuilder() }
        if !state.dropped.isEmpty { dropped = state.dropped + dropped }
        let report = FailureReport(
            failures: state.reportedFailures(of: plan), dropped: dropped,
            exposesDetails: plan.exposesDetails)
        state.record.isPartial = !report.isComplete
        if reportsInBody { report.add(to: &body) }
        let bytes = if let root { root } else { body.finish().bytes }
        return Response(
            status: report.isComplete ? respond?.status ?? .ok : plan.partialStatus,
            fields: fields(result, report, state), body: bytes)
    }

    /// The members of the response as far as these calls make them, for a response that is sent part by
    /// part.
    ///
    /// Calls that still run see the values of the calls as they were received: without the values of lists, and
    /// also values that cannot be placed.
    ///
    /// - Parameter filling: the calls whose parts have the values of lists
    func members(
        from result: AnyResult<Int, Part>, filling: [CallPlan], _ state: FanOutState
    ) throws -> JSONSlice {
        let parts = plan.calls.map { state.part(of: $0) }
        defer {
            for (call, part) in zip(plan.calls, parts) { state.store(part, of: call.index) }
        }
        for call in filling { try fillElements(of: call, state) }
        for failed in state.misplaced { state.store(nil, of: failed.call) }
        var dropped: [ReportedFailure] = []
        return try aggregate(result, state, &dropped).finish()
    }

    /// The response of an endpoint without calls.
    private func fixedResponse(_ respond: RespondPlan, _ state: FanOutState) -> Response {
        var response = respond.response(state)
        if let cacheControl = cacheControl(state) {
            response.fields.append(.cacheControl, cacheControl)
        }
        return response
    }

    // MARK: Body

    private func aggregate(
        _ result: AnyResult<Int, Part>, _ state: FanOutState, _ dropped: inout [ReportedFailure]
    ) throws -> JSONObjectBuilder {
        var body = JSONObjectBuilder(
            capacity: namesCount + state.partBytes, reserved: reserved,
            mayRepeatNames: mayRepeatNames)
        for call in calls {
            try add(call, result, state, to: &body, dropped: &dropped)
        }
        if !placedCalls.isEmpty {
            body = try placingParts(result, state, in: body.finish(), dropped: &dropped)
        }
        if let respond, respond.changesMembers {
            body = shaped(body.finish(), respond, state, dropped: &dropped)
        }
        return body
    }

    /// The part of a call, else its `if_failed`; nil if it contributes nothing.
    private func value(
        of call: CallPlan, _ result: AnyResult<Int, Part>, _ state: FanOutState
    ) -> (json: JSONSlice, isPart: Bool)? {
        guard state.isEnabled(call) else { return nil }
        if let part = result.withPart(of: call, { $0.value }) {
            return (call.lists.isEmpty ? part : state.part(of: call) ?? part, true)
        }
        if call.list != nil { return fallback(ofList: call, state).map { ($0, false) } }
        return call.fallbackValue.map { ($0, false) }
    }

    /// Of a list without enough values, the value of each element; null or nothing for one that was not there.
    private func fallback(ofList call: CallPlan, _ state: FanOutState) -> JSONSlice? {
        if let values = state.list(of: call) {
            return JSONSlice(elements: values.compactMap(\.value))
        }
        // There are no elements to give the fallback to.
        return call.fallback == .omit ? call.fallbackValue : .null
    }

    /// Puts the values of lists in the elements of a call's part, for the response and for `respond`.
    private func fillElements(of call: CallPlan, _ state: FanOutState) throws {
        guard !call.lists.isEmpty, var part = state.part(of: call) else { return }
        var fills = call.lists.map { plan.calls[$0] }.filter(state.isEnabled)
            .compactMap { ListFill($0, state) }
        while let first = fills.first {
            var together = fills.filter { $0.listPath == first.listPath }
            fills.removeAll { $0.listPath == first.listPath }
            let changed = part.changingElements(at: first.listPath) { index, element in
                guard element.kind == .object else { return nil }
                var draft = JSONDraft(element)
                var isChanged = false
                for place in together.indices {
                    if together[place].add(to: &draft, ofElement: index) { isChanged = true }
                }
                return isChanged ? draft.finish() : nil
            }
            part = changed ?? part
            for fill in together { try record(fill, state) }
        }
        state.store(part, of: call.index)
    }

    /// Other lists, or the elements themselves, have values where these would be placed.
    private func record(_ fill: ListFill, _ state: FanOutState) throws {
        let call = fill.call
        if fill.isTaken { state.recordDropped([fill.key], of: call) }
        guard let failure = fill.misplaced.first?.failure, let list = call.list,
            let elements = FailedElements(fill.misplaced.map(\.element))
        else { return }
        state.recordMisplacedElements(failure, elements, of: call)
        guard call.isRequired, state.stream != .afterHead,
            let lost = state.failedElements(of: call),
            fill.values.count - (lost.elements?.count ?? 0)
                < list.needed(of: fill.values.count, isRequired: true)
        else { return }
        state.forgetFailedElements(of: call)
        throw state.recordFailure(lost.failure, of: call, elements: lost.elements)
    }

    /// Adds the members of the root. A member that parts are placed in is null until it has a value.
    private func add(
        _ named: NamedCall, _ result: AnyResult<Int, Part>, _ state: FanOutState,
        to body: inout JSONObjectBuilder, dropped: inout [ReportedFailure]
    ) throws {
        let call = named.plan
        guard case (var value, let isPart)? = value(of: call, result, state) else { return }
        let collisions: [String]
        switch call.placement {
        case .absent, .elements: return
        case .nested, .appended: return body.addPlaceholder(named.name)
        // The `null` of a failed call hides no value of another call.
        case .named where !isPart && value.isNull: return body.addPlaceholder(named.name)
        case .named(let key):
            if body.add(named.name, value) { return }
            if call.failsOnCollision, isPart {
                return try recordFailure(CallFailure.collision(key: key), of: call, state)
            }
            collisions = [key]
        case .root:
            if call.failsOnCollision, isPart, let key = body.collisions(with: value).first {
                try recordFailure(CallFailure.collision(key: key), of: call, state)
                guard let fallback = call.fallbackValue else { return }
                value = fallback
            }
            collisions = body.merge(value)
        }
        guard !collisions.isEmpty else { return }
        dropped += ReportedFailure.all(dropping: collisions, of: call)
    }

    /// Nothing of the call is used: that is its failure.
    private func recordFailure(
        _ error: any Error, of call: CallPlan, _ state: FanOutState
    ) throws {
        if let stream = state.stream, stream == .afterHead || !call.isRequired {
            return state.recordMisplaced(error, of: call)
        }
        let failure = state.recordFailure(error, of: call)
        if call.isRequired { throw failure }
    }

    /// The body with the parts that belong below the root.
    private func placingParts(
        _ result: AnyResult<Int, Part>, _ state: FanOutState, in body: consuming JSONSlice,
        dropped: inout [ReportedFailure]
    ) throws -> JSONObjectBuilder {
        var draft = JSONDraft(body)
        for named in placedCalls {
            try place(named, result, state, in: &draft, dropped: &dropped)
        }
        return JSONObjectBuilder(continuing: draft.finish())
    }

    private func shaped(
        _ body: consuming JSONSlice, _ respond: RespondPlan, _ state: FanOutState,
        dropped: inout [ReportedFailure]
    ) -> JSONObjectBuilder {
        var taken: [String] = []
        let members = respond.members(of: body, state, taken: &taken)
        dropped += taken.map { ReportedFailure(call: nil, failure: .collision(key: $0)) }
        return members
    }

    private func place(
        _ named: NamedCall, _ result: AnyResult<Int, Part>, _ state: FanOutState,
        in draft: inout JSONDraft, dropped: inout [ReportedFailure]
    ) throws {
        let call = named.plan
        guard let (value, isPart) = value(of: call, result, state) else { return }
        let outcome: JSONDraft.Outcome
        if case .appended = call.placement {
            outcome = draft.append(value, to: named.path)
        } else if !isPart, value.isNull {
            return draft.addPlaceholder(at: named.path)
        } else {
            outcome = draft.add(value, at: named.path)
        }
        switch outcome {
        case .added: break
        case .exists where call.failsOnCollision && isPart:
            try recordFailure(CallFailure.collision(key: named.key), of: call, state)
        case .exists:
            dropped.append(ReportedFailure(call: call, failure: .collision(key: named.key)))
        case .invalidShape where isPart: try recordFailure(InvalidShape(), of: call, state)
        // The call has failed for another reason.
        case .invalidShape: break
        }
    }

    /// A call with its keys as JSON. A class, so that a use of it counts one reference.
    private final class NamedCall {
        let plan: CallPlan
        /// The key of the root that has the part, or that its path begins with.
        let name: JSONName
        /// Where the part is placed below the root; empty for a member of the root.
        let path: [JSONName]
        /// The last key of the path, for reports.
        var key: String { String(path.last?.plain ?? name.plain) }

        init(_ plan: CallPlan) {
            self.plan = plan
            let keys: [String] =
                switch plan.placement {
                case .named, .root, .absent, .elements: []
                case .nested(let keys), .appended(let keys): keys
                }
            path = keys.map { JSONName($0) }
            name = path.first ?? JSONName(plan.ownKey ?? plan.name)
        }
    }

    // MARK: Head

    private static let completeFields: Fields = [
        .contentType: "application/json", .gatewayComplete: "true",
    ]
    private static let partialFields: Fields = [
        .contentType: "application/json", .gatewayComplete: "false", .cacheControl: "no-store",
    ]

    private func fields(
        _ result: AnyResult<Int, Part>, _ report: FailureReport, _ state: FanOutState
    ) -> Fields {
        var fields = report.isComplete ? Self.completeFields : Self.partialFields
        if report.isComplete, let cacheControl = cacheControl(state) {
            fields.append(.cacheControl, cacheControl)
        }
        if reportsInHeader, let value = report.field {
            fields.append(.gatewayFailures, value)
        }
        // Above the relayed ones: a header that is there already is not relayed.
        if let respond {
            for (name, value) in respond.lines(state) { fields.append(name, value) }
        }
        if !relayingCalls.isEmpty { relay(result, state, to: &fields) }
        if plan.hasServerTiming { fields.append(.serverTiming, state.serverTiming(of: plan)) }
        return fields
    }

    /// The fields of a response that is sent part by part, as far as they are known when its head is sent.
    func streamFields(
        of type: PartFormat, _ result: AnyResult<Int, Part>, _ state: FanOutState
    ) -> Fields {
        var fields: Fields = [.cacheControl: "no-store", .accelBuffering: "no"]
        if let type = FieldValue(type.mediaType) { fields.append(.contentType, type) }
        for (name, value) in respond?.lines(state) ?? [] { fields.append(name, value) }
        if !relayingCalls.isEmpty { relay(result, state, to: &fields) }
        return fields
    }

    /// Of a complete response: the configured one, or the most restrictive of the calls' responses.
    /// With `auth`, `NoStore` decides about a response without one.
    private func cacheControl(_ state: FanOutState) -> FieldValue? {
        plan.cacheControl ?? (plan.auth == nil ? state.storingLimits.fieldValue : nil)
    }

    /// Adds the header lines that calls relay. As with keys, the earlier call keeps a name; only
    /// `Set-Cookie` lines of several calls are combined.
    private func relay(
        _ result: AnyResult<Int, Part>, _ state: FanOutState, to fields: inout Fields
    ) {
        for call in relayingCalls where !state.hasFailed(call) {
            result.withPart(of: call) { fields.relay(call.relayHeaders, of: $0.fields) }
        }
    }
}

extension CallPlan {
    /// The value in place of a failed call's part; nil if the part is left out.
    package var fallbackValue: JSONSlice? {
        switch (fallback, placement) {
        // An array exists also where no call has elements for it.
        case (.omit, .appended): .emptyArray
        case (.omit, _): nil
        // Only the members of an object can be merged into the root.
        case (.value(let value), .root): value.kind == .object ? value : nil
        case (.value(let value), _): value
        }
    }
}

extension AnyResult<Int, Part> {
    /// Throws the error of the first of these calls that has no part although it is enabled.
    fileprivate func requireParts(of calls: [CallPlan], _ state: FanOutState) throws {
        for call in calls where state.isEnabled(call) {
            _ = try requiredValue(for: call.index)
        }
    }

    /// Passes the part of a call to `body`; nil for a call that failed or was disabled by `when`.
    @discardableResult
    fileprivate func withPart<Return>(of call: CallPlan, _ body: (Part) -> Return) -> Return? {
        for position in 0..<count where key(at: position) == call.index {
            return withValue(at: position, body)
        }
        return nil
    }
}
