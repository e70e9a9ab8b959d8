import TLS
import YAMLReader

/// The rules between keys, calls, endpoints and backends, which cannot be checked key by key.
///
/// It also checks a configuration with decoding errors: every rule skips values that are missing.
struct ConfigCheck {
    let config: Config
    var problems: Problems

    /// Whether every value could be read; otherwise a missing value may have been reported already.
    let wasRead: Bool

    /// The keys whose values are missing because they could not be read.
    let unread: UnreadKeys

    /// The TLS contexts of backends and listeners.
    let contexts: TLSContexts

    /// Seconds since 1970, for the validity of certificates; nil if it does not matter.
    let unixTime: Int64?

    let groups: EndpointGroups

    init(
        _ config: Config, problems: Problems, unread: UnreadKeys, contexts: TLSContexts,
        unixTime: Int64?
    ) {
        self.config = config
        self.problems = problems
        self.unread = unread
        self.contexts = contexts
        self.unixTime = unixTime
        groups = EndpointGroups(config.endpoints)
        wasRead = problems.errorCount == 0
    }

    mutating func checkAll() {
        checkAddresses()
        checkFixedTexts()
        checkBackends()
        for endpoint in config.endpoints {
            checkEndpoint(endpoint)
        }
        for feature in Features.all { feature.check(&self) }
        if wasRead, config.endpoints.isEmpty {
            problems.error(at: config.location, "there are no endpoints; list one in 'endpoints'")
        }
        // A call with a misspelt backend may mean one of those that seem unused.
        if problems.errorCount == 0 {
            checkEveryBackendIsCalled()
            checkEveryParamIsUsed()
            for feature in Features.all { feature.checkUse(&self) }
        }
    }

    /// Whether no value of these keys of a block is missing because it could not be read.
    func isRead(_ keys: String..., of block: SourceLocation?) -> Bool {
        guard let block else { return true }
        return !keys.contains { unread.contains($0, of: block) }
    }

    mutating func forEachCall(
        _ check: (Config.Call, Config.Endpoint, inout ConfigCheck) -> Void
    ) {
        for endpoint in config.endpoints {
            for call in endpoint.calls { check(call, endpoint, &self) }
        }
    }

    /// Reports a key of an endpoint that has no effect on a response that is passed through.
    ///
    /// - Parameter location: nil if the endpoint does not have the key
    mutating func refuse(
        _ key: String, at location: SourceLocation?, withProxyOf endpoint: Config.Endpoint,
        _ advice: String
    ) {
        guard endpoint.proxy != nil, let location else { return }
        problems.error(at: location, "'\(key)' has no effect with 'proxy': \(advice)")
    }

    /// Whether all backends were read, so that an unknown name is an error.
    var hasAllBackends: Bool {
        !["backends", "include"].contains { unread.contains($0, of: config.location) }
    }

    /// Whether the deadline of an endpoint was read, if it is written.
    func hasDeadline(_ endpoint: Config.Endpoint) -> Bool {
        !unread.contains("deadline", of: endpoint.location)
            && config.defaults.map { !unread.contains("deadline", of: $0.location) } != false
    }

    func hasAllParams(of endpoint: Config.Endpoint) -> Bool {
        !["route", "params"].contains { unread.contains($0, of: endpoint.location) }
    }

    func hasAllCalls(of endpoint: Config.Endpoint) -> Bool {
        !unread.contains("calls", of: endpoint.location)
    }

    func backend(named name: String) -> Config.Backend? {
        config.backends.first { $0.name.value == name }
    }
}
