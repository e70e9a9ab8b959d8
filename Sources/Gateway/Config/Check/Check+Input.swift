import YAMLReader

/// The rules for what else a request may have: its media type, unknown parameters and members.
extension ConfigCheck {
    mutating func checkInput(of endpoint: Config.Endpoint) {
        checkContentTypes(of: endpoint)
        checkUnknownQuery(of: endpoint)
        checkUnknownFields(of: endpoint)
    }

    private mutating func checkContentTypes(of endpoint: Config.Endpoint) {
        var seen: [Config.MediaType] = []
        for type in endpoint.contentTypes {
            if seen.contains(type.value) {
                problems.warning(
                    at: type.location, "'content_types' has '\(type.quoted(\.text))' twice")
            }
            seen.append(type.value)
        }
        guard let first = endpoint.contentTypes.first,
            let method = endpoint.route?.value.method, method == .get || method == .head
        else { return }
        problems.warning(
            at: first.location,
            "'content_types' has seldom an effect: \(method.rawValue) requests seldom have a body")
    }

    private mutating func checkUnknownQuery(of endpoint: Config.Endpoint) {
        guard let rule = endpoint.unknownQuery, rule.value == .refuse else { return }
        for call in endpoint.calls {
            guard case .all? = config.forward(of: call, in: endpoint)?.query else { continue }
            problems.error(
                at: rule.location,
                "'unknown_query: refuse' and 'query: all' exclude each other: call"
                    + " '\(call.name.value)' forwards every parameter")
            return
        }
    }

    private mutating func checkUnknownFields(of endpoint: Config.Endpoint) {
        guard let body = endpoint.body, let rule = body.unknownFields, rule.value == .refuse,
            body.properties.isEmpty, body.required.isEmpty, wasRead
        else { return }
        problems.warning(
            at: rule.location,
            "'unknown_fields: refuse' has no effect without 'properties' or 'required'")
    }
}
