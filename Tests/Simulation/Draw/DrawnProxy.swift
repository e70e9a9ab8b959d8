/// `proxy:` of an endpoint. All times are in milliseconds.
struct DrawnProxy {
    /// Index among `streamBackends`.
    var backend: Int
    /// The route ends with `*`.
    var hasRest: Bool
    /// The path at the backend, with a `*` where the route has one; nil for the client's.
    var path: String?
    var timeout: Int
    var idleTimeout: Int
    var maxDuration: Int?
    var maxBody: Int?
    var host: String?
    var forwarded: Forwarded?
    var passesCredential = false
    var interim: String?
    var headers: [(name: String, value: String)] = []
    var dropHeaders: [String] = []
    var retry: DrawnRetry?
    var upgrades = false
    /// Another endpoint protects the paths below `/safe` of this one, whose route has a `*`.
    var hasProtectedFolder = false
    /// `paths:`; nil if it is not written.
    var paths: Paths?

    enum Paths: String { case strict, lenient }

    /// Whether paths are refused that servers read in different ways.
    var refusesUnusualPaths: Bool {
        (paths ?? (hasProtectedFolder ? .strict : .lenient)) == .strict
    }

    enum Forwarded: String { case x, rfc7239, both, off }
}

/// A backend of endpoints with `proxy`: its permits are held until the last byte of a response.
struct DrawnStreamBackend {
    var name: String
    /// Ports at 127.0.0.1.
    var ports: [UInt16]
    /// The prefix of the URLs.
    var prefix: String
    var connectTimeout: Int
    var maxConcurrent: Int?
    var queue: (size: Int, wait: Int)?
    var breaker: DrawnBreaker?
    var keepalive: (maxIdle: Int, idleTimeout: Int)?
    /// The share of connections that the first host refuses.
    var refusedShare: Double
}

extension DrawnEndpoint {
    /// Whether the route has the method, or `ANY`.
    func accepts(_ method: String) -> Bool {
        method == self.method || method == "HEAD" && self.method == "GET"
            || self.method == Self.anyMethod && method != "CONNECT" && method != "TRACE"
    }

    static let anyMethod = "ANY"

    /// Its route, without the method.
    var routePath: String {
        if let proxy { return proxy.hasRest ? "\(path)/*" : path }
        return "\(path)\(hasID ? "/{id}" : "")"
    }
}
