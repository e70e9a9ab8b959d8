import GatewayConfig
import HTTP

/// Plans one endpoint; its calls are planned by `CallPlanner`.
struct EndpointPlanner {
    let planner: Planner
    let endpoint: Config.Endpoint

    func plan(_ index: Int) throws(PlanError) -> EndpointPlan {
        guard let route = endpoint.route?.value else {
            throw PlanError("\(endpoint.place): no route")
        }
        let params = try params(of: route)
        let graph = endpoint.callGraph
        let defaults = planner.config.defaults
        var calls: [CallPlan] = []
        for (position, call) in endpoint.calls.enumerated() {
            let scope = CallScope(
                endpoint: endpoint, params: params, uses: graph.uses[position],
                waitsFor: graph.waitsFor[position])
            calls.append(
                try CallPlanner(planner: planner, call: call, scope: scope).plan(position))
        }
        return EndpointPlan(
            index: index,
            route: route,
            place: endpoint.place,
            params: params,
            body: try body(),
            bodyMax: endpoint.body?.max?.value ?? endpoint.maxBody?.value
                ?? defaults?.maxBody?.value ?? PlanDefaults.bodyMax,
            deadline: endpoint.deadline?.value ?? defaults?.deadline?.value
                ?? PlanDefaults.deadline,
            padding: endpoint.minDuration.map {
                PaddingPlan(minimum: $0.value, step: endpoint.roundUpTo?.value)
            },
            success: success,
            report: endpoint.report?.value ?? defaults?.report?.value ?? .body,
            exposesDetails: (endpoint.expose?.value ?? defaults?.expose?.value) == .details,
            partialStatus: Status(
                endpoint.partialStatus?.value ?? defaults?.partialStatus?.value ?? 200) ?? .ok,
            cacheControl: endpoint.cacheControl.flatMap { FieldValue($0.value) },
            hasServerTiming: endpoint.serverTiming?.value ?? false,
            inFlightMax: endpoint.maxInFlight.map { planner.share($0.value) },
            proxies: planner.proxies,
            calls: calls,
            graph: graph)
    }

    private func params(of route: Config.Route) throws(PlanError) -> [ParamPlan] {
        do {
            return try ParamPlan.all(of: endpoint.params, route: route)
        } catch {
            throw PlanError("\(endpoint.place): params: \(error)")
        }
    }

    private func body() throws(PlanError) -> BodyPlan? {
        guard let body = endpoint.body else { return nil }
        do {
            return try BodyPlan(body)
        } catch {
            throw PlanError("\(body.place): \(error)")
        }
    }

    /// Required calls make `required` the rule; without any, one is enough.
    private var success: SuccessRule {
        switch endpoint.succeedWhen?.value {
        case .any: .any
        case .all: .all
        case .required: .required
        case nil: endpoint.calls.contains { $0.required?.value == true } ? .required : .any
        }
    }
}

/// What the names in a call's templates mean.
struct CallScope {
    let endpoint: Config.Endpoint
    let params: [ParamPlan]
    let uses: [Int]
    let waitsFor: [Int]

    func param(named name: String) -> Int? { params.firstIndex { $0.name == name } }

    func call(named name: String) -> Int? {
        endpoint.calls.firstIndex { $0.name.value == name }
    }
}
