package import HTTP

/// `proxy:`, how the requests of an endpoint are passed through to a backend.
///
/// A class, for the same reason as `CallPlan`.
package final class ProxyPlan {
    /// Into the plan's backends.
    package let backend: Int
    package let path: ProxyPath
    /// From the last byte of the request to the head of the response.
    package let timeout: Duration
    package let idleTimeout: Duration
    package let maxDuration: Duration?
    /// Of the request's body, in bytes.
    package let bodyMax: Int?
    package let host: ProxyHost
    /// The headers and parameters of the client that are passed on; nil for all.
    package let forward: ProxyForward?
    /// Set on the request.
    package let headers: [(name: FieldName, value: CompiledTemplate)]
    /// Removed from the client's fields: replaced ones and unwanted ones.
    package let removed: [FieldName]
    /// Whether fields of the client with `_` in their names pass.
    package let passesUnderscores: Bool
    /// The headers with the client's address, which are generated.
    package let forwarded: [FieldName]
    /// Whether `Client-Cert` sends the certificate of a verified client.
    package let sendsClientCert: Bool
    let rewrite: ProxyRewrite?
    /// Which clients receive interim responses of the backend.
    package let interim: Config.Proxy.Interim
    /// Where the credential is that the backend must not receive.
    let credentials: [CredentialSource]
    /// The headers in which `auth` reads credentials, whether they pass or not.
    let credentialHeaders: [FieldName]
    package let retry: RetryPlan?
    /// In lower case.
    package let upgrades: [FieldValue]
    var acceptsWebSocket: Bool { upgrades.contains("websocket") }

    /// The name of its call in logs, metrics and traces.
    package static let callName = "proxy"

    /// One line for each key; the planner computes what takes more than a line.
    init(_ planner: ProxyPlanner) throws(PlanError) {
        let proxy = planner.proxy
        backend = planner.backend
        timeout = proxy.timeout?.value ?? PlanDefaults.proxyTimeout
        idleTimeout = proxy.idleTimeout?.value ?? PlanDefaults.proxyIdleTimeout
        maxDuration = proxy.maxDuration?.value
        bodyMax = proxy.maxBody?.value
        host = try planner.host()
        forward = try planner.forward()
        headers = try planner.headers()
        path = ProxyPath(
            proxy.path, of: planner.route, using: try planner.usedQueryNames(headers))
        forwarded = planner.forwarded(excluding: headers.map(\.name))
        sendsClientCert = planner.sendsClientCert(unlessSet: headers.map(\.name))
        interim = proxy.interim?.value ?? PlanDefaults.proxyInterim
        rewrite = planner.rewrite()
        removed = try planner.removed(with: headers.map(\.name))
        passesUnderscores =
            (proxy.underscores?.value ?? PlanDefaults.proxyUnderscores) == .pass
        let sources = planner.scope.endpointPlanner.credentialSources
        credentialHeaders = sources.compactMap(\.header)
        credentials =
            (proxy.credential?.value ?? PlanDefaults.proxyCredential) == .drop ? sources : []
        retry = proxy.retry.map { RetryPlan($0) }
        upgrades = proxy.upgrade.compactMap { FieldValue($0.value) }
    }

    /// Whether a client of this version receives interim responses.
    func passesInterim(to version: HTTPVersion) -> Bool {
        switch interim {
        case .off: false
        case .http2: version >= .http2
        case .all: true
        }
    }
}

/// The `Host` of the requests.
package enum ProxyHost {
    /// The host of the backend's URL.
    case backend
    case client
    case name(FieldValue)
}

/// `forward:` of an endpoint with `proxy`.
package struct ProxyForward {
    package let headers: [FieldName]
    package let query: Config.Forward.Query
}
