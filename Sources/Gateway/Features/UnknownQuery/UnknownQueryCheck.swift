/// The rules for `unknown_query` of an endpoint.
extension ConfigCheck {
    mutating func checkUnknownQuery(of endpoint: Config.Endpoint) {
        refuse(
            "unknown_query", at: endpoint.unknownQuery?.location, withProxyOf: endpoint,
            "the query is passed on unless 'forward' restricts it")
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
}
