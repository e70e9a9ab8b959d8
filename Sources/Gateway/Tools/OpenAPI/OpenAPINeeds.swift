/// The parts of a request that are mandatory because calls use them, even if they are not declared:
/// without them the response is a 400.
struct OpenAPINeeds {
    private(set) var params: Set<String> = []
    /// In lower case.
    private(set) var headers: Set<String> = []
    /// Undeclared query parameters.
    private(set) var queries: Set<String> = []
    private(set) var hasBody = false
    private(set) var bodyFields: [Field] = []

    /// A member of a body.
    struct Field: Hashable {
        /// The keys of its path, up to the first array.
        let keys: [String]
        /// Whether the value must be a scalar, not an object or an array.
        let isText: Bool
    }

    /// A value that a call needs.
    private enum Value: Hashable {
        case param(String)
        case header(String)
        case query(String)
        case body
        case field(Field)
    }

    /// A request fails without a value that a required call uses; if one successful call is enough,
    /// it fails without a value that every call uses.
    init(_ config: Config.Endpoint, _ plan: EndpointPlan) {
        let calls = zip(config.calls, plan.calls).filter { $0.1.condition == nil }
        let required = calls.filter(\.1.isRequired).map { Self.values(of: $0.0, in: config) }
        let isOneEnough = required.isEmpty && calls.count == plan.calls.count
        let all = calls.map { Self.values(of: $0.0, in: config) }
        let values =
            isOneEnough
            ? all.dropFirst().reduce(all.first ?? []) { common, values in
                common.filter(values.contains)
            }
            : required.flatMap { $0 }
        for value in values { add(value) }
    }

    private mutating func add(_ value: Value) {
        switch value {
        case .param(let name): params.insert(name)
        case .header(let name): headers.insert(name)
        case .query(let name): queries.insert(name)
        case .body: hasBody = true
        case .field(let field):
            hasBody = true
            if !bodyFields.contains(field) { bodyFields.append(field) }
        }
    }

    /// In the order of the file, so that the description is deterministic.
    private static func values(of call: Config.Call, in config: Config.Endpoint) -> [Value] {
        let list = call.each?.list
        var asJSON = Set(
            (call.content?.pieces ?? []).compactMap { piece in
                if case .value(let reference, let location) = piece {
                    "\(location) \(reference.text)"
                } else {
                    nil
                }
            })
        if let list { asJSON.insert("\(list.location) \(list.value.text)") }
        return config.references(sentBy: call).filter { !$0.value.isOptional }.compactMap {
            reference in
            switch reference.value.source {
            // A list that is not sent is empty.
            case .requestQuery where reference.location == list?.location: nil
            case .name(let name): config.parameterNames.contains(name) ? .param(name) : nil
            case .call, .requestClient, .requestCaller: nil
            case .requestHeader(let name): .header(name.lowercased())
            case .requestQuery(let name): .query(name)
            case .requestBody(let path) where path.isEmpty: .body
            case .requestBody(let path):
                .field(
                    Field(
                        keys: keys(of: path),
                        isText: path.allSatisfy { if case .key = $0 { true } else { false } }
                            && !asJSON.contains("\(reference.location) \(reference.value.text)")))
            }
        }
    }

    private static func keys(of path: [TemplateText.Step]) -> [String] {
        path.prefix { if case .key = $0 { true } else { false } }.compactMap { step in
            if case .key(let key) = step { key } else { nil }
        }
    }
}
