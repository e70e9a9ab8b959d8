/// The names of query parameters and headers that conditions use.
struct ConditionNames {
    private(set) var queries: [String] = []
    private(set) var headers: [String] = []

    init(_ endpoints: [Config.Endpoint]) {
        for endpoint in endpoints { insert(endpoint) }
    }

    private mutating func insert(_ endpoint: Config.Endpoint) {
        guard let when = endpoint.matching.when else { return }
        for reference in when.references {
            switch reference.value.source {
            case .requestQuery(let name): queries.append(name)
            case .requestHeader(let name): headers.append(name)
            case .name(let name): insert(name, of: endpoint)
            default: break
            }
        }
        for test in when.allTests {
            if let param = test.param { insert(param.value, of: endpoint) }
        }
    }

    private mutating func insert(_ name: String, of endpoint: Config.Endpoint) {
        guard let param = endpoint.params.first(where: { $0.name.value == name }) else { return }
        switch param.sentIn?.value {
        case .header?: headers.append(name)
        case .query?: queries.append(name)
        case nil where endpoint.route?.value.parameters.contains(name) == false:
            queries.append(name)
        default: break
        }
    }
}
