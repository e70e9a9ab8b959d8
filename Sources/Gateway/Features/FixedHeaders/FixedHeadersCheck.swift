import HTTP

/// The rules for fixed headers of responses.
extension ConfigCheck {
    mutating func checkFixedHeaders() {
        checkDuplicates(in: config.responseHeaders.map(\.name), of: "response_headers")
        let common = fixedNames(config.responseHeaders)
        for endpoint in config.endpoints {
            checkDuplicates(in: endpoint.responseHeaders.map(\.name), of: "response_headers")
            let fixed = common + fixedNames(endpoint.responseHeaders)
            checkOverridden(
                endpoint.calls.flatMap(\.relayHeaders), of: endpoint, fixed, "relayed")
            let own = endpoint.respond?.headers.map(\.name) ?? []
            checkOverridden(own, of: endpoint, fixed, "sent")
        }
    }

    private func fixedNames(_ headers: [Config.Header]) -> [String] {
        headers.map { $0.name.value.lowercased() }
    }

    /// No other header repeats a fixed one: with two values, clients may use either.
    private mutating func checkOverridden(
        _ names: [Located<String>], of endpoint: Config.Endpoint, _ fixed: [String], _ verb: String
    ) {
        let security = (config.securityHeaders?.value ?? PlanDefaults.securityHeaders).fields
        let hasCORS = config.cors(of: endpoint) != nil
        for name in names {
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
                at: name.location, "'\(name.quoted)' is not \(verb): '\(key)' sets it")
        }
    }
}
