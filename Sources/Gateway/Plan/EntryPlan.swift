package import Basics

/// What is decided about a request before its endpoint is known.
package struct EntryPlan {
    /// `clients`; nil if all addresses are accepted.
    package let clients: AddressRule?
    /// `hosts`; nil if all are accepted.
    package let hosts: AllowedHosts?
    /// `user_agents`; nil if all are accepted.
    package let userAgents: UserAgentRule?
    /// The headers of responses without an endpoint; nil if they are the server's.
    package let headers: ResponseHeaders?
    /// `auth_failures`; nil without a limit.
    package let authFailures: TokenBucket?
    /// Whether there are CORS rules, and so preflights.
    let hasPreflights: Bool
    /// Whether the address lists of endpoints apply; false for `explain`, whose requests have no
    /// client address.
    private(set) var checksEndpointClients = true
    /// The caller of requests without credentials; nil if requests have credentials. Simulated ones
    /// have none, because nothing can make keys from their hashes.
    private(set) var assumedCaller: AssumedCaller?
    /// The address of the listener of requests without a connection, for `explain`.
    private(set) var assumedListener: String?

    /// A copy for requests that no client sent: they have no address, host or `User-Agent`.
    var acceptingAll: EntryPlan {
        EntryPlan(
            clients: nil, hosts: nil, userAgents: nil, headers: headers,
            authFailures: authFailures,
            hasPreflights: hasPreflights,
            checksEndpointClients: false,
            assumedListener: assumedListener)
    }

    func assuming(_ caller: AssumedCaller) -> EntryPlan {
        var entry = self
        entry.assumedCaller = caller
        return entry
    }

    func assuming(listener: String?) -> EntryPlan {
        var entry = self
        entry.assumedListener = listener
        return entry
    }
}
