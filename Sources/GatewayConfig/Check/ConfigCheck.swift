import TLS
import YAMLReader

/// The rules that no key can know alone: between keys, calls, endpoints and backends.
///
/// Works on what could be decoded, also where problems were found already: every rule skips what
/// is not there.
struct ConfigCheck {
    let config: Config
    var problems: Problems

    /// Nothing is missing because it could not be read; else what is missing is no news.
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

    mutating func run() {
        checkAddresses()
        checkClients()
        checkBackends()
        checkRoutes()
        for endpoint in config.endpoints {
            checkEndpoint(endpoint)
        }
        if wasRead, config.endpoints.isEmpty {
            problems.error(at: config.location, "there are no endpoints")
        }
        // A call with a wrong name of a backend means one of those that seem unused.
        if problems.errorCount == 0 {
            checkEveryBackendIsCalled()
        }
    }

    private mutating func checkAddresses() {
        if let listen = config.listen { checkSocketFile(of: listen, key: "listen") }
        if let admin = config.admin { checkSocketFile(of: admin, key: "admin") }
        guard let listen = config.listen?.address, let admin = config.admin?.address,
            listen.value == admin.value
        else {
            return
        }
        if case .tcp(_, port: 0) = admin.value { return }
        problems.error(
            at: admin.location, "'admin' needs an address of its own, not that of 'listen'")
    }

    /// Only a unix socket has a file.
    private mutating func checkSocketFile(of block: some AddressBlock, key: String) {
        guard case .tcp? = block.address?.value else { return }
        for (name, location) in [("mode", block.mode?.location), ("group", block.group?.location)] {
            guard let location else { continue }
            problems.error(
                at: location,
                "'\(name)' of '\(key)' is for the file of a unix: address, and this is host:port")
        }
    }

    /// No backend is missing because its part of the files could not be read.
    var hasAllBackends: Bool {
        !["backends", "include"].contains { unread.contains($0, of: config.location) }
    }

    /// The deadline of an endpoint is not missing because it could not be read.
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
