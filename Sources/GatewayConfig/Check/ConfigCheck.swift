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

    /// The TLS contexts of the backends.
    let contexts: TLSClientContexts

    init(
        _ config: Config, problems: Problems, unread: UnreadKeys, contexts: TLSClientContexts
    ) {
        self.config = config
        self.problems = problems
        self.unread = unread
        self.contexts = contexts
        wasRead = problems.errorCount == 0
    }

    mutating func checkAll() {
        checkAddresses()
        checkClients()
        checkAccess()
        checkLog()
        checkTraces()
        checkBackends()
        checkRoutes()
        for endpoint in config.endpoints {
            checkEndpoint(endpoint)
        }
        checkCORS()
        checkAuth()
        checkRateLimits()
        checkStore()
        if wasRead, config.endpoints.isEmpty {
            problems.error(at: config.location, "there are no endpoints")
        }
        // A call with a misspelt backend may mean one of those that seem unused.
        if problems.errorCount == 0 {
            checkEveryBackendIsCalled()
            checkEveryRateLimitIsUsed()
        }
    }

    private mutating func checkAddresses() {
        if let listen = config.listen { checkSocketFile(of: listen, key: "listen") }
        if let admin = config.admin {
            checkSocketFile(of: admin, key: "admin")
            warnOfWrittenToken(of: admin)
        }
        guard let listen = config.listen?.address, let admin = config.admin?.address,
            listen.value == admin.value
        else {
            return
        }
        if case .tcp(_, port: 0) = admin.value { return }
        problems.error(
            at: admin.location, "'admin' needs an address of its own, not that of 'listen'")
    }

    /// `mode` and `group` need a unix socket, because only its file has permissions.
    private mutating func checkSocketFile(of block: some AddressBlock, key: String) {
        guard case .tcp? = block.address?.value else { return }
        for (name, location) in [("mode", block.mode?.location), ("group", block.group?.location)] {
            guard let location else { continue }
            problems.error(
                at: location,
                "'\(name)' of '\(key)' applies only to unix: addresses, and this is host:port")
        }
    }

    private mutating func warnOfWrittenToken(of admin: Config.Admin) {
        guard let token = admin.token, token.isVerbatim else { return }
        problems.warning(
            at: token.location,
            "'token' of 'admin' is written in the file; use ${file:/path} or ${NAME}, so that the"
                + " file has no secret")
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
