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
    private let requiredCalls: [CallPlan]
    /// The calls that relay header lines.
    private let relayingCalls: [CallPlan]

    init(_ plan: EndpointPlan) {
        self.plan = plan
        calls = plan.calls.map { NamedCall($0) }
        namesCount = calls.reduce(0) { $0 + $1.name.written.count + 1 }
        reserved = plan.calls.allSatisfy { $0.placement == .named } ? [] : [FailureReport.name]
        reportsInBody = plan.report == .body
        reportsInHeader = plan.report == .header
        requiredCalls = plan.calls.filter(\.isRequired)
        relayingCalls = plan.calls.filter { !$0.relayHeaders.isEmpty }
    }

    func response(from result: AnyResult<Int, Part>, _ state: FanOutState) throws -> Response {
        try result.requireParts(of: requiredCalls, state)
        var body = JSONObjectBuilder(
            capacity: namesCount + state.partBytes, reserved: reserved)
        var dropped: [ReportedFailure] = []
        for call in calls {
            try add(call, result, state, to: &body, dropped: &dropped)
        }
        if !state.dropped.isEmpty { dropped = state.dropped + dropped }
        let report = FailureReport(
            failures: state.reportedFailures(of: plan), dropped: dropped,
            exposesDetails: plan.exposesDetails)
        state.record.isPartial = !report.isComplete
        if reportsInBody { report.add(to: &body) }
        return Response(
            status: report.isComplete ? .ok : plan.partialStatus,
            fields: fields(result, report, state),
            body: body.finish().bytes)
    }

    // MARK: Body

    private func add(
        _ named: NamedCall, _ result: AnyResult<Int, Part>, _ state: FanOutState,
        to body: inout JSONObjectBuilder, dropped: inout [ReportedFailure]
    ) throws {
        let call = named.plan
        guard state.isEnabled(call) else { return }
        let part = result.withPart(of: call) { $0.value }
        guard var value = part ?? call.fallbackValue else { return }
        let collisions: [String]
        switch call.placement {
        // The `null` of a failed call hides no value of another call.
        case .named where part == nil && value.isNull:
            body.addPlaceholder(named.name)
            return
        case .named: collisions = body.add(named.name, value) ? [] : [call.name]
        case .root(let failsOnCollision):
            if failsOnCollision, part != nil, let key = body.collisions(with: value).first {
                // Nothing of the call is used, so the collision is recorded as its failure.
                let failure = state.recordFailure(CallFailure.collision(key: key), of: call)
                guard !call.isRequired else { throw failure }
                guard let fallback = call.fallbackValue else { return }
                value = fallback
            }
            collisions = body.merge(value)
        }
        for key in collisions {
            dropped.append(ReportedFailure(call: call, failure: .collision(key: key)))
        }
    }

    /// A call with its name as JSON. A class, so that a use of it counts one reference.
    private final class NamedCall {
        let plan: CallPlan
        let name: JSONName

        init(_ plan: CallPlan) {
            self.plan = plan
            name = JSONName(plan.name)
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
        if !relayingCalls.isEmpty { relay(result, state, to: &fields) }
        if plan.hasServerTiming { fields.append(.serverTiming, state.serverTiming(of: plan)) }
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
        case (.omit, _): nil
        case (.value(let value), .named): value
        // Only the members of an object can be merged into the root.
        case (.value(let value), .root): value.kind == .object ? value : nil
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
