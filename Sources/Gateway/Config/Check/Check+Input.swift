import YAMLReader

/// The rules for what else a request may have: unknown parameters and members.
extension ConfigCheck {
    mutating func checkInput(of endpoint: Config.Endpoint) {
        checkUnknownQuery(of: endpoint)
        checkUnknownFields(of: endpoint)
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
