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

    /// Of several endpoints of a route, the one with the lowest is described: first one for all listeners.
    private func rank(of endpoint: EndpointPlan) -> Int {
        let hosts = endpoint.matching.hosts
        let ofListener = endpoint.matching.listenerName == nil ? 0 : 3
        guard let host else { return ofListener + (hosts.isEmpty ? 0 : 1) }
        let isExact = hosts.contains { HostSyntax.canonical($0) == HostSyntax.canonical(host) }
        return ofListener + (isExact ? 0 : hosts.isEmpty ? 2 : 1)
    }

    /// The server of the description.
    var all: JSONTree {
        if let server { return Self.tree(server) }
        return host.map { tree(ofHost: $0) } ?? Self.tree(url(of: listener) ?? "/")
    }

    /// The servers of an endpoint that is for some hosts or for one listener only; empty for others.
    func servers(of endpoint: EndpointPlan) -> [JSONTree] {
        let matching = endpoint.matching
        guard
            let listener = plan.process.listeners.first(where: {
                $0.address.spelled == matching.listener
            })
        else { return host == nil ? matching.hosts.map { tree(ofHost: $0) } : [] }
        let hosts = host.map { [$0] } ?? matching.hosts
        guard hosts.isEmpty else { return hosts.map { tree(ofHost: $0, on: listener) } }
        return [Self.tree(url(of: listener) ?? "/")]
    }

    /// A `*` becomes a variable.
    private func tree(ofHost host: String, on listener: ListenPlan? = nil) -> JSONTree {
        guard host.hasPrefix("*.") else {
            return Self.tree(url(at: HostSyntax.canonical(host), listener) ?? "/")
        }
        let name = "{name}" + host.lowercased().dropFirst()
        return .object([
            ("url", .text(url(at: name, listener) ?? "/")),
            (
                "variables",
                .object([("name", .object([("default", .text("www"))]))])
            ),
        ])
    }

    private static func tree(_ url: String) -> JSONTree { .object([("url", .text(url))]) }

    /// Replaces a wildcard address by localhost; a unix socket and a port that the system chooses
    /// have no URL.
    private func url(of listener: ListenPlan?) -> String? {
        guard case .tcp(let host, _)? = listener?.address else { return nil }
        let name = ["0.0.0.0", "::"].contains(host) ? "localhost" : host
        return Self.url(at: name.contains(":") ? "[\(name)]" : name, listener)
    }

    /// With the scheme and the port of the stated server, else of a listener.
    private func url(at host: String, _ listener: ListenPlan?) -> String? {
        guard let server, listener == nil else {
            return Self.url(at: host, listener ?? self.listener)
        }
        guard let scheme = server.firstRange(of: "://") else { return nil }
        let port = server[scheme.upperBound...].drop { $0 != ":" && $0 != "/" }
        return server[..<scheme.upperBound] + host + port
    }

    private static func url(at host: String, _ listener: ListenPlan?) -> String? {
        guard case .tcp(_, let port)? = listener?.address, port != 0 else { return nil }
        return "\(listener?.tls == nil ? "http" : "https")://\(host):\(port)"
    }

    /// One with TLS first, to which the others may redirect.
    private var listener: ListenPlan? {
        plan.process.listeners.first { $0.tls != nil } ?? plan.process.listeners.first
    }
}
