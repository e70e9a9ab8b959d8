/// What endpoints have in common that differ only in their conditions.
struct EndpointGroup: Hashable {
    /// Without the names of parameters.
    let shape: String
    let hosts: Set<String>
    let listener: String?

    /// Nil without a route.
    init?(_ endpoint: Config.Endpoint) {
        guard let route = endpoint.route?.value else { return nil }
        shape = route.shape
        hosts = Set(endpoint.matching.hosts.map { HostSyntax.canonical($0.value) })
        listener = endpoint.matching.listener?.value
    }

    /// Whether a request could belong to endpoints of both, as far as host and listener decide.
    func sharesPlaces(with other: EndpointGroup) -> Bool {
        if let listener, let name = other.listener, listener != name { return false }
        return hosts.isEmpty || other.hosts.isEmpty
            || hosts.contains { host in
                other.hosts.contains { HostSyntax.overlap(host, $0) }
            }
    }
}

extension Config.Route {
    /// Equal for routes that match the same requests.
    var shape: String {
        segments.reduce(into: method.rawValue + (suffix ?? "")) { shape, segment in
            shape += "/"
            switch segment {
            // A slash in a literal was written %2F, so the path is not one of two segments.
            case .literal(let text) where text.utf8.contains(UInt8(ascii: "/")):
                shape += text.split(separator: "/", omittingEmptySubsequences: false)
                    .joined(separator: "%2F")
            case .literal(let text): shape += text
            case .parameter: shape += "{}"
            case .rest: shape += "*"
            }
        }
    }
}
