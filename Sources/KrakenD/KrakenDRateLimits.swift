import Basics
import Gateway
import YAMLReader

/// Converts KrakenD's `qos/ratelimit/service` and `qos/ratelimit/router` to `rate_limits`: those of
/// the service are shared by all endpoints, each endpoint has its own besides.
struct KrakenDRateLimits {
    static let serviceKey = "qos/ratelimit/service"
    static let endpointKey = "qos/ratelimit/router"

    /// The limits so far, for the top level.
    private(set) var limits: [(String, YAMLTree)] = []
    /// The names of those of the service.
    private(set) var namesOfService: [String] = []

    init(service member: DocumentNode.Member?, _ findings: inout ImportFindings) {
        guard let member else { return }
        namesOfService = add(member, named: "service", parameters: [], &findings)
    }

    /// The limits of an endpoint, with those of the service; nil if it has none of its own.
    mutating func names(
        ofEndpoint route: Config.Route, _ extras: [DocumentNode.Member],
        _ findings: inout ImportFindings
    ) -> [String]? {
        guard let member = extras.last(where: { $0.key == Self.endpointKey }) else { return nil }
        let words = "\(route.method.rawValue) \(route.path)".lowercased()
            .split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let names = add(
            member, named: words.joined(separator: "_"), parameters: route.parameters, &findings)
        return names.isEmpty ? nil : namesOfService + names
    }

    /// Leaves all limits out; the endpoints that use them are left out, too.
    mutating func removeAll() { limits = [] }

    // MARK: One extension

    /// Adds the limit of all requests and that of each client.
    private mutating func add(
        _ member: DocumentNode.Member, named name: String, parameters: [String],
        _ findings: inout ImportFindings
    ) -> [String] {
        let node = member.node
        for inner in node.members where !Self.known.contains(inner.key) {
            findings.reportLoss(of: inner, among: Self.losses)
        }
        var names: [String] = []
        if let rate = rate(node, "max_rate", "maxRate", capacity: "capacity", member, &findings) {
            names.append(add(name, rate, member))
        }
        let clients = rate(
            node, "client_max_rate", "clientMaxRate", capacity: "client_capacity", member, &findings
        )
        if let clients, let key = key(node, parameters, member, &findings) {
            names.append(add(name + "_client", clients + [("key", .text(key))], member))
        }
        return names
    }

    /// Two endpoints may differ only in characters that a name cannot have.
    private mutating func add(
        _ name: String, _ rate: [(String, YAMLTree)], _ member: DocumentNode.Member
    ) -> String {
        var unique = name
        var count = 1
        while limits.contains(where: { $0.0 == unique }) {
            count += 1
            unique = "\(name)_\(count)"
        }
        limits.append((unique, .located(.inline(rate), member.keyLocation)))
        return unique
    }

    private static let known: Set<String> = [
        "max_rate", "maxRate", "client_max_rate", "clientMaxRate", "capacity", "client_capacity",
        "every", "strategy", "key",
    ]

    private static let cleaning = ImportLoss.note("buckets that are full need no room")
    private static let losses: [String: ImportLoss] = [
        "cleanup_period": cleaning, "cleanup_threads": cleaning, "num_shards": cleaning,
    ]

    // MARK: Rates

    /// `rate` and, if it is another number, `burst`; nil without a rate, or with one that has no
    /// equivalent.
    private func rate(
        _ node: DocumentNode, _ key: String, _ former: String, capacity: String,
        _ member: DocumentNode.Member, _ findings: inout ImportFindings
    ) -> [(String, YAMLTree)]? {
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
        _ node: DocumentNode, _ parameters: [String], _ member: DocumentNode.Member,
        _ findings: inout ImportFindings
    ) -> String? {
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
