import Basics
import GatewayConfig
import HTTP
package import JSONText
import Promises

/// Makes one answer of all parts: the required ones must be there, the others leave what their
/// `if_failed` says, and a report tells what failed or was dropped.
struct Aggregate {
    private let plan: EndpointPlan
    private let names: [JSONName]
    /// Bytes that all names take, with what divides them.
    private let namesCount: Int
    private let isFlat: Bool

    init(_ plan: EndpointPlan) {
        self.plan = plan
        names = plan.calls.map { JSONName($0.name) }
        namesCount = names.reduce(0) { $0 + $1.written.count + 1 }
        isFlat = plan.calls.allSatisfy { $0.placement == .named }
    }

    func answer(_ result: AnyResult<Int, Part>, _ run: FanOutState) throws -> Response {
        for call in plan.calls where call.isRequired && call.isWanted(run.values.params) {
            _ = try result.requiredValue(for: call.index)
        }
        var body = JSONObjectBuilder(
            capacity: namesCount + run.partBytes, reserved: isFlat ? [] : [Report.name])
        var dropped: [ReportedFailure] = []
        for call in plan.calls {
            try add(call, result, run, to: &body, dropped: &dropped)
        }
        let report = Report(
            failures: run.reported(of: plan), dropped: dropped, exposesDetails: plan.exposesDetails)
        if plan.report == .body { report.add(to: &body) }
        return Response(
            status: report.isComplete ? .ok : plan.partialStatus,
            fields: fields(result, report, run),
            body: (consume body).finish().bytes)
    }

    // MARK: Body

    private func add(
        _ call: CallPlan, _ result: AnyResult<Int, Part>, _ run: FanOutState,
        to body: inout JSONObjectBuilder, dropped: inout [ReportedFailure]
    ) throws {
        guard call.isWanted(run.values.params) else { return }
        let part = result.part(of: call)?.value
        guard var value = part ?? call.fallbackValue else { return }
        let collisions: [String]
        switch call.placement {
        case .named: collisions = body.add(names[call.index], value) ? [] : [call.name]
        case .root(let failsOnCollision):
            if failsOnCollision, part != nil, let key = body.collisions(with: value).first {
                // The call brought nothing then, so its failure is noted as if it had failed itself.
                let failure = run.noted(CallFailure.collision(key: key), of: call)
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

    // MARK: Head

    private static let completeFields: Fields = [
        .contentType: "application/json", .gatewayComplete: "true",
    ]
    private static let partialFields: Fields = [
        .contentType: "application/json", .gatewayComplete: "false", .cacheControl: "no-store",
    ]

    private func fields(
        _ result: AnyResult<Int, Part>, _ report: Report, _ run: FanOutState
    ) -> Fields {
        var fields = report.isComplete ? Self.completeFields : Self.partialFields
        if report.isComplete, let cacheControl = plan.cacheControl {
            fields.append(.cacheControl, cacheControl)
        }
        if plan.report == .header, let value = report.field {
            fields.append(.gatewayFailures, value)
        }
        relay(result, run, to: &fields)
        if plan.hasServerTiming { fields.append(.serverTiming, run.serverTiming(of: plan)) }
        return fields
    }

    /// The header lines that calls relay. As with keys, the earlier call keeps a name; only
    /// `Set-Cookie` lines add up.
    private func relay(
        _ result: AnyResult<Int, Part>, _ run: FanOutState, to fields: inout Fields
    ) {
        for call in plan.calls
        where !call.relayHeaders.isEmpty && !run.hasFailed(call) {
            guard let part = result.part(of: call) else { continue }
            for name in call.relayHeaders where name == .setCookie || !fields.contains(name) {
                for value in part.fields.all(name) { fields.append(name, value) }
            }
        }
    }
}

extension CallPlan {
    /// What stands for the part of a call that failed; nil leaves it out.
    package var fallbackValue: JSONSlice? {
        switch (fallback, placement) {
        case (.omit, _): nil
        case (.value(let value), .named): value
        // At the root there is no place for anything but the members of an object.
        case (.value(let value), .root): value.kind == .object ? value : nil
        }
    }
}

extension AnyResult<Int, Part> {
    /// The part of a call; nil for one that failed or was left out.
    fileprivate func part(of call: CallPlan) -> Part? {
        for position in 0..<count where key(at: position) == call.index {
            return try? result(at: position).get()
        }
        return nil
    }
}
