/// The rules for `content_types` of an endpoint.
extension ConfigCheck {
    /// Warns of types that are listed twice, and of a list that requests never need.
    mutating func checkContentTypes(of endpoint: Config.Endpoint) {
        let types = endpoint.contentTypes.types
        var seen: [Config.MediaType] = []
        for type in types {
            if seen.contains(type.value) {
                problems.warning(
                    at: type.location, "'content_types' has '\(type.quoted(\.text))' twice")
            }
            seen.append(type.value)
        }
        guard let first = types.first, let method = endpoint.route?.value.method,
            method == .get || method == .head
        else { return }
        problems.warning(
            at: first.location,
            "'content_types' has seldom an effect: \(method.rawValue) requests seldom have a body")
    }
}
