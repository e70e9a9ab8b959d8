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

    /// Whether a request could belong to endpoints of both, as far as the host decides.
    func sharesPlaces(with other: EndpointGroup) -> Bool {
        hosts.isEmpty || other.hosts.isEmpty
            || hosts.contains { host in
                other.hosts.contains { HostSyntax.overlap(host, $0) }
            }
    }
}

extension Config {
    /// The index of the next endpoint that differs from one only in its condition; nil without one.
    func nextInGroup(ofEndpoint index: Int) -> Int? {
        guard let group = EndpointGroup(endpoints[index]) else { return nil }
        return endpoints.indices.dropFirst(index + 1).first {
            EndpointGroup(endpoints[$0]) == group
        }
    }
}

extension Config.Route {
    /// Equal for routes that match the same requests.
    var shape: String {
        segments.reduce(into: method.rawValue + (suffix ?? "")) { shape, segment in
            shape += "/"
            switch segment {
            // Encoded, so that the text is neither two segments nor a parameter.
            case .literal(let text):
                for byte in text.utf8 {
                    let isSpecial = "/%{}*".utf8.contains(byte)
                    shape += isSpecial ? "%\(byte)%" : String(UnicodeScalar(byte))
                }
            case .parameter: shape += "{}"
            case .rest: shape += "*"
            }
        }
    }
}
