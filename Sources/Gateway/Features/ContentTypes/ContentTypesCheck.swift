import YAMLReader

extension ContentTypesKeys {
    /// Warns of types that are listed twice, and of a list that requests never need.
    static func check(_ endpoint: Config.Endpoint, _ check: inout ConfigCheck) {
        let types = endpoint.contentTypes.types
        var seen: [Config.MediaType] = []
        for type in types {
            if seen.contains(type.value) {
                check.problems.warning(
                    at: type.location, "'content_types' has '\(type.quoted(\.text))' twice")
            }
            seen.append(type.value)
        }
        guard let first = types.first, let method = endpoint.route?.value.method,
            method == .get || method == .head
        else { return }
        check.problems.warning(
            at: first.location,
            "'content_types' has seldom an effect: \(method.rawValue) requests seldom have a body")
    }
}
