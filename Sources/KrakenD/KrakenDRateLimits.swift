import Basics
import Gateway
import YAMLReader

/// Converts KrakenD's `qos/ratelimit/service` and `qos/ratelimit/router` to `rate_limits`: all
/// endpoints share the limits of the service, and each endpoint can have its own.
struct KrakenDRateLimits {
    /// The limits so far, for the top level.
    private(set) var all: YAMLMembers = []
    /// The limits that all endpoints share.
    private(set) var namesOfService: [String] = []

    mutating func addLimits(ofService member: DocumentNode.Member, _ findings: ImportFindings) {
        namesOfService = add(member, named: "service", parameters: [], findings)
    }

    /// The limits of an endpoint, with the limits of the service; nil if it has none of its own.
    mutating func names(
        ofEndpoint node: DocumentNode, _ route: Config.Route, _ findings: ImportFindings
    ) -> [String]? {
        guard let member = node.extra(KrakenDExtra.rateLimit) else { return nil }
        let words = "\(route.method.rawValue) \(route.path)".lowercased()
            .split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let names = add(
            member, named: words.joined(separator: "_"), parameters: route.parameters, findings)
        return names.isEmpty ? nil : namesOfService + names
    }

    /// Adds the limit of all requests and the limit of each client.
    private mutating func add(
        _ member: DocumentNode.Member, named name: String, parameters: [String],
        _ findings: ImportFindings
    ) -> [String] {
        KrakenDTable.rateLimit.report(member.node, findings)
        var names: [String] = []
        func append(_ name: String, _ rate: YAMLMembers) {
            // Two endpoints may differ only in characters that a name cannot have.
            let unique = KrakenDBackends.unique(name, among: all.map(\.0), separator: "_")
            all.append((unique, .located(.inline(rate), member.keyLocation)))
            names.append(unique)
        }
        if let rate = rate(member, "max_rate", "maxRate", capacity: "capacity", findings) {
            append(name, rate)
        }
        let clients = rate(
            member, "client_max_rate", "clientMaxRate", capacity: "client_capacity", findings)
        if let clients, let key = key(member, parameters, findings) {
            append(name + "_client", clients + [("key", .text(key))])
        }
        return names
    }

    // MARK: Rates

    /// `rate` and, if it is another number, `burst`; nil without a rate, or with one that has no
    /// equivalent.
    private func rate(
        _ member: DocumentNode.Member, _ key: String, _ former: String, capacity: String,
        _ findings: ImportFindings
    ) -> YAMLMembers? {
        let node = member.node
        guard let value = node[key] ?? node[former], let text = value.number ?? value.text,
            let most = Double(text), most > 0
        else { return nil }
        let period = node["every"]?.goDuration ?? .seconds(1)
        guard let rate = Self.rate(most, period) else {
            findings.warning(
                at: value.location,
                "'\(key)' of '\(member.key)' is left out: \(text) in \(period.spelled) is not a whole"
                    + " number per second, minute, hour or day")
            return nil
        }
        let burst = node[capacity]?.integer ?? max(1, Int(most.rounded(.up)))
        guard rate.bucket(burst: burst) != nil else {
            findings.warning(
                at: value.location,
                "'\(key)' of '\(member.key)' is left out: its rate or its burst is too large")
            return nil
        }
        return [("rate", .text(rate.spelled))]
            + (burst == rate.count ? [] : [("burst", .plain("\(burst)"))])
    }

    /// In the smallest unit in which it is a whole number.
    private static func rate(_ count: Double, _ period: Duration) -> Config.Rate? {
        let seconds = period.inMilliseconds / 1000
        for unit in Config.Rate.Unit.allCases {
            let number = count * Double(unit.seconds) / seconds
            guard number < 1_000_000.5 else { return nil }
            let whole = number.rounded()
            if whole >= 1, abs(number - whole) < 1e-6 { return Config.Rate(Int(whole), per: unit) }
        }
        return nil
    }

    /// What distinguishes clients.
    private func key(
        _ member: DocumentNode.Member, _ parameters: [String], _ findings: ImportFindings
    ) -> String? {
        let node = member.node
        let name = node["key"]?.text ?? ""
        switch node["strategy"]?.text?.lowercased() ?? "ip" {
        case "ip":
            if let key = node["key"], !name.isEmpty {
                findings.warning(
                    at: key.location,
                    "'key' of '\(member.key)' is left out: 'trusted_proxies' of 'clients' decides which"
                        + " header has the client's address")
            }
            return "address"
        case "header" where HeaderSyntax.isName(name): return "{request.header.\(name)}"
        case "param" where parameters.contains(name): return "{\(name)}"
        case let strategy:
            findings.warning(
                at: member.keyLocation,
                "'client_max_rate' of '\(member.key)' is left out: the strategy '\(strategy)' needs a"
                    + " header or a parameter of the route as 'key'")
            return nil
        }
    }
}
