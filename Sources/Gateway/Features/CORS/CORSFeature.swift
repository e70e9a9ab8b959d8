import Basics
import HTTP

/// `cors` of endpoints and `defaults`: which web pages of other origins may read responses.
enum CORSFeature: Feature {
    static var keys: FeatureKeys {
        FeatureKeys(defaults: CORSKeys.defaults, endpoint: CORSKeys.endpoint)
    }

    static func check(_ check: inout ConfigCheck) { check.checkCORS() }

    static func entryResponse(to head: RequestHead, of plan: Plan) -> ExplainedEntryResponse? {
        guard head.method == .options, let response = Preflight(plan).response(to: head) else {
            return nil
        }
        return ExplainedEntryResponse(
            lines: ["preflight 204"]
                + response.fields.map { "          \(String($0.name)): \(String($0.value))" },
            isAccepted: true)
    }

    static func conditions(
        _ endpoint: EndpointPlan, of plan: Plan, _ head: RequestHead
    ) -> [String] {
        guard let cors = endpoint.cors else { return [] }
        var line = "cors      \(cors.text)"
        if let origin = head.fields[.origin] {
            let isAllowed = cors.allows(origin.bytes)
            line += "; \(origin) may \(isAllowed ? "" : "not ")read the response"
        }
        return [line]
    }

    /// One line for each set of rules, with the endpoints that have it.
    static func summary(of plan: Plan) -> [String] {
        var sets: [(rules: CORSRules, endpoints: [String])] = []
        for endpoint in plan.endpoints {
            guard let rules = endpoint.cors else { continue }
            if let index = sets.firstIndex(where: { $0.rules === rules }) {
                sets[index].endpoints.append(endpoint.name)
            } else {
                sets.append((rules, [endpoint.name]))
            }
        }
        return sets.map { rules, endpoints in
            let isAll = endpoints.count == plan.endpoints.count
            return "cors of \(isAll ? "all endpoints" : endpoints.joined(separator: ", ")):"
                + " \(rules.text)"
        }
    }
}
