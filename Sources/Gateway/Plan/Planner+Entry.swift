import Basics
import HTTP

// Compiles what applies to requests before their endpoint is known, and the headers of responses.
extension Planner {
    func entry(_ endpoints: [EndpointPlan]) throws(PlanError) -> EntryPlan {
        let fixed = try fixedFields(for: nil)
        return EntryPlan(
            clients: AddressRule(
                allow: config.clients?.allow?.value, deny: config.clients?.deny?.value),
            hosts: AllowedHosts(
                config.hosts.names.map(\.value),
                text: config.hosts.names.map(\.quoted).joined(separator: ", ")),
            userAgents: try userAgents,
            headers: defaultCORS.map { ResponseHeaders(fixed: fixed, cors: $0) },
            authFailures: authFailures,
            hasPreflights: defaultCORS != nil || endpoints.contains { $0.cors != nil })
    }

    private var userAgents: UserAgentRule? {
        get throws(PlanError) {
            do {
                return try UserAgentRule(config.userAgents)
            } catch {
                throw PlanError("user_agents: \(error)")
            }
        }
    }

    /// Nil if its responses have the headers of the server only.
    func headers(of endpoint: Config.Endpoint) throws(PlanError) -> ResponseHeaders? {
        let rules = cors(of: endpoint)
        guard
            rules != nil || !endpoint.responseHeaders.isEmpty || defaultCORS != nil
                || vary(for: endpoint) != nil
        else {
            return nil
        }
        var fixed = try fixedFields(for: endpoint)
        if let vary = vary(for: endpoint) { fixed.append(.vary, vary) }
        return ResponseHeaders(fixed: fixed, cors: rules)
    }

    /// The headers that choose between the endpoints of a route, or between a document and parts (RFC 9110,
    /// section 12.5.5); nil if none does.
    private func vary(for endpoint: Config.Endpoint) -> FieldValue? {
        var names = groups.namesInConditions(beside: endpoint).headers
        if endpoint.parts != nil { names.append("Accept") }
        var seen: Set<String> = []
        names = names.filter { seen.insert($0.lowercased()).inserted }
        return names.isEmpty ? nil : FieldValue(names.joined(separator: ", "))
    }

    /// The rules of `defaults` are one object for all endpoints.
    private func cors(of endpoint: Config.Endpoint) -> CORSRules? {
        switch endpoint.cors?.value {
        case .none?: nil
        case .rules(let cors)?: CORSRules(cors)
        case nil: defaultCORS
        }
    }

    /// Security headers, then the fixed headers of all responses, then the headers of the endpoint; of
    /// several with the same name the last one replaces the others.
    func fixedFields(for endpoint: Config.Endpoint?) throws(PlanError) -> Fields {
        var fields = (config.securityHeaders?.value ?? PlanDefaults.securityHeaders).fields
        for header in config.responseHeaders + (endpoint?.responseHeaders ?? []) {
            guard let value = FieldValue(header.value.value) else {
                throw PlanError("\(header.value.location): not a header value")
            }
            fields.set(try fieldName(header.name), value)
        }
        return fields
    }
}
