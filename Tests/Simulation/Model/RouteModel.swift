import Rehearsal

/// The model of routes: which endpoint handles a request. It is written from the documentation, without the gateway's
/// code.
extension DrawnConfig {
    /// Nil if no endpoint has the path for the host and the listener of the request. With another method than the
    /// request's, one that refuses it.
    func endpoint(of request: ScriptedRequest) -> DrawnEndpoint? {
        endpoint(of: request, request.method) { endpoint in
            RequestConditionModel(
                request: request, config: self, endpoint: endpoint, caller: nil, selects: true
            ).holds
        }
    }

    /// The endpoint that decides about preflights for a method: one without a condition.
    func endpoint(of request: ScriptedRequest, preflightFor method: String) -> DrawnEndpoint? {
        endpoint(of: request, method) { _ in { _ in false } }
    }

    private func endpoint(
        of request: ScriptedRequest, _ method: String,
        _ holds: (DrawnEndpoint) -> (DrawnCondition) -> Bool
    ) -> DrawnEndpoint? {
        let ofPath = endpointsInOrder.filter { $0.isFor(request) }
        let name = Self.listenerName(request.listener)
        // The most exact path decides, also if its endpoints are for another listener.
        let fitting = ofPath.filter { $0.accepts(method) }
        guard let exact = fitting.map(\.route.rank).min() else {
            return ofPath.first { $0.route.listener == nil || $0.route.listener == name }
        }
        let endpoints = fitting.filter { $0.route.rank == exact }
        let own = endpoints.filter { $0.route.listener == name }
        return (own.isEmpty ? endpoints.filter { $0.route.listener == nil } : own)
            .first { $0.route.when.map(holds($0)) ?? true }
    }

    /// The headers and the query parameters by which the endpoints of a route differ.
    func headersInConditions(beside endpoint: DrawnEndpoint) -> [String] {
        endpoints(beside: endpoint).compactMap(\.route.when).flatMap(\.headerNames)
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    func queriesInConditions(beside endpoint: DrawnEndpoint) -> [String] {
        endpoints(beside: endpoint).compactMap(\.route.when).flatMap(\.queryNames)
    }

    /// The name of an endpoint in logs: `GET a.test/e0 (l1, when 2)`.
    func name(of endpoint: DrawnEndpoint) -> String {
        let host = endpoint.entry.hosts.first?.replacing("\"", with: "") ?? ""
        var notes = [endpoint.route.listener].compactMap(\.self)
        if endpoint.route.when != nil {
            let earlier = endpoints(beside: endpoint).prefix { $0.index != endpoint.index }
            notes.append("when \(earlier.count + 1)")
        }
        return "\(endpoint.method) \(host)\(endpoint.routePath)"
            + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
    }
}

extension DrawnEndpoint {
    /// Whether it has the path and the host of a request.
    fileprivate func isFor(_ request: ScriptedRequest) -> Bool {
        let hosts = entry.hosts
        guard route.main == request.endpoint, hosts.isEmpty || request.isFor(hosts) else {
            return false
        }
        return switch route.ending {
        case .usual: !hasID || request.id?.isEmpty == false
        case .suffix: id(of: request) != nil
        case .literal: request.id == DrawnRoute.literal
        }
    }

    /// The value of its path parameter; nil if the path has no text for it.
    func id(of request: ScriptedRequest) -> String? {
        guard let id = request.id, route.ending == .suffix else { return request.id }
        guard id.hasSuffix(DrawnRoute.suffix), id != DrawnRoute.suffix else { return nil }
        return String(id.dropLast(DrawnRoute.suffix.count))
    }
}

extension DrawnRoute {
    /// A literal segment goes before a suffix, and a suffix before a parameter without.
    fileprivate var rank: Int {
        switch ending {
        case .literal: 0
        case .suffix: 1
        case .usual: 2
        }
    }
}
