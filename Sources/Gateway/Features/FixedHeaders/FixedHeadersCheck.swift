import HTTP

/// The rules for fixed headers of responses.
extension ConfigCheck {
    mutating func checkFixedHeaders() {
        checkDuplicates(in: config.responseHeaders.map(\.name), of: "response_headers")
        let common = fixedNames(config.responseHeaders)
        for endpoint in config.endpoints {
            checkDuplicates(in: endpoint.responseHeaders.map(\.name), of: "response_headers")
            checkRelayed(
                by: endpoint, fixed: common + fixedNames(endpoint.responseHeaders))
        }
    }

    private func fixedNames(_ headers: [Config.Header]) -> [String] {
        headers.map { $0.name.value.lowercased() }
    }

    /// A relayed header must not repeat a fixed one: with two values, clients may use either.
    private mutating func checkRelayed(by endpoint: Config.Endpoint, fixed: [String]) {
        let security = (config.securityHeaders?.value ?? PlanDefaults.securityHeaders).fields
        let hasCORS = config.cors(of: endpoint) != nil
        for name in endpoint.calls.flatMap(\.relayHeaders) {
            let key: String
            if fixed.contains(name.value.lowercased()) {
                key = "response_headers"
            } else if FieldName(name.value).map(security.contains) == true {
                key = "security_headers"
            } else if hasCORS, HeaderSyntax.isCORS(name.value) {
                key = "cors"
            } else {
                continue
            }
            problems.warning(
                at: name.location, "'\(name.quoted)' is not relayed: '\(key)' sets it")
        }
    }
}
