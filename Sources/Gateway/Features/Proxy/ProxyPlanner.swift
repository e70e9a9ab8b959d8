import Basics
import HTTP

/// Computes the parts of a `ProxyPlan`.
final class ProxyPlanner {
    let proxy: Config.Proxy
    let route: Config.Route
    /// Into the plan's backends.
    let backend: Int
    let scope: CallScope
    private let planner: Planner

    init(
        _ proxy: Config.Proxy, _ scope: CallScope, _ route: Config.Route, _ planner: Planner
    ) throws(PlanError) {
        guard let to = proxy.to,
            let backend = planner.config.backends.firstIndex(where: { $0.name.value == to.value })
        else { throw PlanError("\(proxy.location): no backend") }
        self.proxy = proxy
        self.scope = scope
        self.route = route
        self.backend = backend
        self.planner = planner
    }

    func host() throws(PlanError) -> ProxyHost {
        switch proxy.host?.value ?? .backend {
        case .backend: return .backend
        case .client: return .client
        case .name(let name):
            guard let value = FieldValue(name) else {
                throw PlanError("\(proxy.location): not a host")
            }
            return .name(value)
        }
    }

    func forward() throws(PlanError) -> ProxyForward? {
        guard let forward = scope.endpoint.forward else { return nil }
        var names: [FieldName] = []
        for name in forward.headers { names.append(try planner.fieldName(name)) }
        return ProxyForward(headers: names, query: forward.query)
    }

    /// The query parameters that the gateway decides by, or sends in headers.
    func usedQueryNames(
        _ headers: [(name: FieldName, value: CompiledTemplate)]
    ) throws(PlanError) -> UsedQueryNames {
        let used = headers.flatMap(\.value.references).compactMap(\.source.queryName)
        return UsedQueryNames(
            scope.params.compactMap(\.queryName) + used
                + (try scope.endpointPlanner.decidingQueryNames()))
    }

    func headers() throws(PlanError) -> [(name: FieldName, value: CompiledTemplate)] {
        var headers: [(name: FieldName, value: CompiledTemplate)] = []
        for header in planner.config.headers(of: proxy, in: scope.endpoint) {
            headers.append(
                (
                    try planner.fieldName(header.name),
                    try TemplatePlanner(scope: scope).field(header.value)
                ))
        }
        return headers
    }

    /// A header that the configuration sets is not generated.
    func forwarded(excluding set: [FieldName]) -> [FieldName] {
        let kind = proxy.forwarded?.value ?? PlanDefaults.proxyForwarded
        return kind.names.filter { !set.contains($0) && !fieldsOfBackend.contains($0) }
    }

    /// A header that the configuration sets is not generated.
    func sendsClientCert(unlessSet set: [FieldName]) -> Bool {
        (proxy.clientCert?.value ?? PlanDefaults.proxyClientCert) == .on
            && !set.contains(.clientCert) && !fieldsOfBackend.contains(.clientCert)
    }

    private var fieldsOfBackend: [FieldName] {
        planner.config.backends[backend].headers.compactMap { FieldName($0.name.value) }
    }

    func removed(with set: [FieldName]) throws(PlanError) -> [FieldName] {
        var names = set
        for header in planner.config.backends[backend].headers {
            names.append(try planner.fieldName(header.name))
        }
        for name in proxy.dropHeaders { names.append(try planner.fieldName(name)) }
        return names
    }

    /// Nil without `rewrite`.
    func rewrite() -> ProxyRewrite? {
        guard !proxy.rewrite.isEmpty else { return nil }
        let urls = planner.config.backends[backend].hosts.map(\.value)
        let path = proxy.path?.value.text ?? route.path
        var origins = urls.flatMap(\.origins)
        if case .name(let name)? = proxy.host?.value {
            origins += urls.flatMap { $0.scheme.origins(ofHost: name) }
        }
        return ProxyRewrite(
            proxy.rewrite.map(\.value), own: route.path.beforePatterns,
            theirs: urls.map { $0.path + path.beforePatterns }, origins: origins)
    }
}

extension Config.BackendURL {
    fileprivate var origins: [String] {
        scheme.origins(ofHost: "\(host.contains(":") ? "[\(host)]" : host):\(port)")
    }
}

extension Config.BackendURL.Scheme {
    /// With the default port, and without it.
    fileprivate func origins(ofHost host: String) -> [String] {
        let origin = "\(rawValue)://\(host)"
        let port = self == .http ? ":80" : ":443"
        if origin.hasSuffix(port) { return [origin, String(origin.dropLast(port.count))] }
        return [origin] + (URLSyntax.split(host[...]).port == nil ? [origin + port] : [])
    }
}
