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

/// The endpoints of a configuration, by what they have in common.
struct EndpointGroups {
    private let endpoints: [Config.Endpoint]
    /// In the order of the file.
    private let indices: [EndpointGroup: [Int]]

    init(_ endpoints: [Config.Endpoint]) {
        self.endpoints = endpoints
        var indices: [EndpointGroup: [Int]] = [:]
        for (index, endpoint) in endpoints.enumerated() {
            guard let group = EndpointGroup(endpoint) else { continue }
            indices[group, default: []].append(index)
        }
        self.indices = indices
    }

    /// The endpoint itself, and those that differ from it only in their conditions; none without a route.
    func members(like endpoint: Config.Endpoint) -> [Int] {
        EndpointGroup(endpoint).flatMap { indices[$0] } ?? []
    }

    /// The index of the next endpoint that differs from one only in its condition; nil without one.
    func next(after index: Int) -> Int? {
        members(like: endpoints[index]).first { $0 > index }
    }

    /// The names in the conditions that choose between an endpoint and the others of its route.
    func namesInConditions(beside endpoint: Config.Endpoint) -> ConditionNames {
        ConditionNames(members(like: endpoint).map { endpoints[$0] })
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
