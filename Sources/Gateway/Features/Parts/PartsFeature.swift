import HTTP

/// `parts` of an endpoint: the members of a response are sent as they are complete.
enum PartsFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: PartsKeys.endpoint) }

    static func check(_ check: inout ConfigCheck) {
        for endpoint in check.config.endpoints { check.checkParts(of: endpoint) }
    }

    static func conditions(
        _ endpoint: EndpointPlan, of plan: Plan, _ head: RequestHead
    ) -> [String] {
        guard let parts = endpoint.parts else { return [] }
        let formats = parts.formats.map(\.mediaType).joined(separator: ", ")
        guard let format = parts.format(for: head) else {
            return ["parts     one document; \(formats) if Accept prefers it"]
        }
        let first =
            endpoint.calls.contains(where: \.isRequired)
            ? "the required calls" : "the first success"
        return ["parts     \(format.mediaType), after \(first)"]
    }
}
