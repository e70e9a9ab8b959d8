import Rehearsal

/// What a request is charged to under one configuration, written from the documentation.
struct QuotaModel {
    let request: ScriptedRequest
    let config: DrawnConfig

    /// The limits of the endpoint that the request names, without those whose condition does not
    /// hold.
    var uses: [DrawnLimitUse] {
        guard let endpoint, endpoint.proxy.map(request.isRefusedPath) != true else { return [] }
        let conditions = RequestConditionModel(
            request: request, config: config, endpoint: endpoint,
            caller: RequestModel(request: request, config: config).caller)
        return endpoint.limitUses.filter { $0.when.map(conditions.mayHold) ?? true }
    }

    private var endpoint: DrawnEndpoint? { config.endpoint(of: request) }

    /// Whether it has a limit without a key, whose refusal is a 503.
    var mayOverload: Bool { uses.contains { config.rateLimits[$0.limit].key == nil } }

    /// The text by which a limit counts the request; one text for all without a key.
    func key(of limit: DrawnRateLimit) -> String {
        switch limit.key {
        case nil: "all"
        case .address: address
        case .tenant: request.header("X-Tenant").map { "tenant \($0)" } ?? address
        case .language:
            RequestModel(request: request, config: config).value(of: "lang")
                .map { "language \($0)" } ?? address
        }
    }

    /// IPv6 addresses count by their /64, and all clients of unix sockets as one.
    var address: String {
        guard let address = EntryModel(request: request, config: config).address else {
            return "no address"
        }
        return address.contains(":") ? "network 2001:db8::/64" : "address \(address)"
    }
}
