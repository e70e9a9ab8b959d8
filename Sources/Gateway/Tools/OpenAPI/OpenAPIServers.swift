import Basics

/// The URLs of the API, and which endpoints a description has.
///
/// A description has one operation for each method and path, but a configuration can have several
/// endpoints for them: by host, listener and condition. It has the endpoint without a condition, and the
/// first one of several hosts or listeners; a description for one host has the endpoints of this host.
struct OpenAPIServers {
    private let plan: Plan
    /// The URL for clients; nil for the address in `listen`.
    private let server: String?
    /// Nil for all hosts.
    private let host: String?

    init(_ plan: Plan, server: String?, host: String?) {
        self.plan = plan
        self.server = server
        self.host = host
    }

    /// In the order of the file.
    var describedEndpoints: [EndpointPlan] {
        var seen: Set<String> = []
        let chosen = plan.endpoints.filter { $0.matching.condition == nil && serves($0) }
            .sorted { (rank(of: $0), $0.index) < (rank(of: $1), $1.index) }
            .filter { seen.insert($0.route.shape).inserted }
        return chosen.sorted { $0.index < $1.index }
    }

    private func serves(_ endpoint: EndpointPlan) -> Bool {
        guard let host, !endpoint.matching.hosts.isEmpty else { return true }
        return endpoint.matching.hosts.contains {
            HostSyntax.overlap(HostSyntax.canonical($0), HostSyntax.canonical(host))
        }
    }

    /// Of several endpoints of a route, the one with the lowest is described.
    private func rank(of endpoint: EndpointPlan) -> Int {
        let hosts = endpoint.matching.hosts
        guard let host else { return hosts.isEmpty ? 0 : 1 }
        let isExact = hosts.contains { HostSyntax.canonical($0) == HostSyntax.canonical(host) }
        return isExact ? 0 : hosts.isEmpty ? 2 : 1
    }

    /// The server of the description.
    var all: JSONTree {
        if let server { return Self.tree(server) }
        return host.map(tree(ofHost:)) ?? Self.tree(url ?? "/")
    }

    /// The servers of an endpoint that is for some hosts only; empty for others.
    func servers(of endpoint: EndpointPlan) -> [JSONTree] {
        host == nil ? endpoint.matching.hosts.map(tree(ofHost:)) : []
    }

    /// A `*` becomes a variable.
    private func tree(ofHost host: String) -> JSONTree {
        guard host.hasPrefix("*.") else {
            return Self.tree(url(at: HostSyntax.canonical(host)) ?? "/")
        }
        let name = "{name}" + host.lowercased().dropFirst()
        return .object([
            ("url", .text(url(at: name) ?? "/")),
            (
                "variables",
                .object([("name", .object([("default", .text("www"))]))])
            ),
        ])
    }

    private static func tree(_ url: String) -> JSONTree { .object([("url", .text(url))]) }

    /// Replaces a wildcard address by localhost; a unix socket and a port that the system chooses
    /// have no URL.
    private var url: String? {
        guard case .tcp(let host, _)? = listener?.address else { return nil }
        let name = ["0.0.0.0", "::"].contains(host) ? "localhost" : host
        return url(at: name.contains(":") ? "[\(name)]" : name)
    }

    private func url(at host: String) -> String? {
        guard case .tcp(_, let port)? = listener?.address, port != 0 else { return nil }
        return "\(listener?.tls == nil ? "http" : "https")://\(host):\(port)"
    }

    /// One with TLS first, to which the others may redirect.
    private var listener: ListenPlan? {
        plan.process.listeners.first { $0.tls != nil } ?? plan.process.listeners.first
    }
}
