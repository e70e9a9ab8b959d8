/// Which requests with its method and path an endpoint handles.
package struct MatchingKeys: Sendable {
    /// Empty for all.
    package var hosts: [Located<String>] = []
    /// The name of a listener; nil for all.
    package var listener: Located<String>?
    /// Nil if it handles every request.
    package var when: Config.Condition?

    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .list(
            "hosts", \.matching.hosts, .filledList(of: .hostPattern),
            "hosts of the requests: names, addresses, or *.name for one label more; default: all"),
        .value(
            "listener", \.matching.listener, .text,
            "name of the listener of the requests; default: all"),
        .block(
            "when", \.matching.when,
            "condition of the requests; others go to the next endpoint with the same route"),
    ]
}

extension Config {
    /// The names of the endpoints in logs and metrics: `GET shop.example.com/x (internal, when 1)`, with
    /// the first of their hosts, their listener, and the number of their condition within their group.
    package var endpointNames: [String] {
        var conditions: [EndpointGroup: Int] = [:]
        return endpoints.map { endpoint in
            guard let route = endpoint.route?.value else { return "" }
            var notes = [endpoint.matching.listener?.value].compactMap(\.self)
            if endpoint.matching.when != nil, let group = EndpointGroup(endpoint) {
                let number = conditions[group, default: 0] + 1
                conditions[group] = number
                notes.append("when \(number)")
            }
            let host = endpoint.matching.hosts.first.map { HostSyntax.canonical($0.value) } ?? ""
            let name = "\(route.method.rawValue) \(host)\(route.path)"
            return notes.isEmpty ? name : name + " (\(notes.joined(separator: ", ")))"
        }
    }

    /// The address of the listener that an endpoint is restricted to; nil without one.
    func listenerAddress(of endpoint: Endpoint) -> ListenAddress? {
        guard let name = endpoint.matching.listener?.value else { return nil }
        return listen.first { $0.name?.value == name }?.address?.value
    }
}
