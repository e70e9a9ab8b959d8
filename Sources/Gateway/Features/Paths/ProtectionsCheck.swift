import Basics

/// What protects the endpoints of a configuration, compared with each other: `auth` with its
/// conditions, `clients`, rate limits, `max_in_flight`, `listener`.
///
/// Most endpoints have the same protection, so that each pair of different ones is compared once.
struct Protections {
    /// The number of each endpoint's protection.
    private let numbers: [Int]
    /// By two numbers, whether the first has something that the second lacks.
    private let comparisons: [[Bool]]

    init(_ config: Config) {
        var distinct: [Protection] = []
        numbers = config.endpoints.map { endpoint in
            let protection = Protection(endpoint, config)
            if let known = distinct.firstIndex(where: { $0 == protection }) { return known }
            distinct.append(protection)
            return distinct.count - 1
        }
        comparisons = distinct.map { one in distinct.map { one.hasMore(than: $0) } }
    }

    /// Whether an endpoint has a protection that the other one lacks, by their indices.
    func has(_ endpoint: Int, moreThan other: Int) -> Bool {
        comparisons[numbers[endpoint]][numbers[other]]
    }
}

/// The protection of an endpoint. Each part is compared as text, without its source location.
private struct Protection: Equatable {
    /// Nil for a public endpoint.
    private let auth: String?
    private let clients: String?
    private let limits: [String]
    private let inFlightMax: Int?
    private let listener: String?

    init(_ endpoint: Config.Endpoint, _ config: Config) {
        auth = config.authRule(of: endpoint)?.compared
        clients = endpoint.clients?.compared
        limits = config.rateLimits(of: endpoint).map(\.value.compared)
        inFlightMax = endpoint.maxInFlight?.value
        listener = endpoint.matching.listener?.value
    }

    func hasMore(than other: Protection) -> Bool {
        (auth != nil && auth != other.auth) || (clients != nil && clients != other.clients)
            || limits.contains { !other.limits.contains($0) }
            || (inFlightMax != nil && inFlightMax != other.inFlightMax)
            || (listener != nil && listener != other.listener)
    }
}

extension Config.AuthRule {
    fileprivate var compared: String {
        "\(any.map(\.value)) \(scopes.map(\.value)) \(require.map(\.value.compared))"
    }
}

extension Config.Access {
    fileprivate var compared: String {
        let (allow, deny) = (allow?.value, deny?.value)
        return "\(allow.map { "\($0.networks) \($0.includesUnixSockets)" } ?? "")"
            + " \(deny.map { "\($0.networks) \($0.includesUnixSockets)" } ?? "")"
    }
}

extension Config.LimitUse {
    private var comparedCost: String {
        switch cost?.value ?? .fixed(1) {
        case .fixed(let cost): "\(cost)"
        case .count(let list): list.text
        }
    }

    fileprivate var compared: String {
        "\(limit?.value ?? "") \(comparedCost) \(when?.compared ?? "")"
    }
}

extension Config.Condition {
    /// The recursion is as deep as the document, which its reader bounds.
    fileprivate var compared: String {
        let texts = operands.map { operand in
            switch operand.value {
            case .constant(let json): String(json)
            case .text(let text): text.template.text
            }
        }
        let kinds = [equal != nil, unequal != nil, !oneOf.isEmpty, has != nil, !hasAny.isEmpty]
        return "\(param?.value ?? "") \(value?.value.template.text ?? "") \(kinds) \(texts)"
            + " \(exists.map { "\($0.value)" } ?? "")"
            + " \(all.map(\.value.compared)) \(any.map(\.value.compared)) \(not.map(\.compared))"
    }
}
