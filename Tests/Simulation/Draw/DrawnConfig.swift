/// A drawn configuration. The configuration text is generated from it, and the model reads it; the
/// gateway gets only the text. All times are in milliseconds.
struct DrawnConfig {
    /// Counts the configurations of a run; part of every call's path.
    var generation: Int
    var workers: Int
    /// Clients connect to a unix socket.
    var listensOnUnixSocket = false
    /// The first listener has `protocols: [http2, http1]`.
    var acceptsHTTP2 = false
    /// Behind the first one.
    var listeners: [DrawnListener] = []
    var limits = DrawnLimits()
    var entry = DrawnEntry()
    var rateLimits: [DrawnRateLimit] = []
    /// Nil without authenticators.
    var auth: DrawnAuth?
    var authFailures = DrawnAuthFailures.off
    var drainTimeout: Int
    var backends: [DrawnBackend]
    /// Those of endpoints with `proxy`.
    var streamBackends: [DrawnStreamBackend] = []
    var endpoints: [DrawnEndpoint]

    /// One worker's share of a number for the whole process.
    func share(_ count: Int) -> Int { max(1, (count + workers - 1) / workers) }

    var checksHosts: Bool { backends.contains { $0.health != nil } }
}

/// `limits:`; nil values are not written.
struct DrawnLimits {
    var connections: Int?
    var connectionsPerClient: Int?
    var requestsInFlight: Int?
    var streams: Int?
    var streamsPerConnection: Int?
    var headerBytes: Int?
    var headerCount: Int?
    var uriBytes: Int?
    var headerTimeout: Int?
    var bodyTimeout: Int?
    var writeTimeout: Int?
    var idleTimeout: Int?
    var bufferedBytes: Int?

    /// Whether a new connection may be refused.
    var limitsConnections: Bool { connections != nil || connectionsPerClient != nil }

    /// With client timeouts of at most one second, where none are set.
    var withShortTimeouts: DrawnLimits {
        var limits = self
        limits.headerTimeout = headerTimeout ?? 1000
        limits.bodyTimeout = bodyTimeout ?? 1000
        limits.idleTimeout = idleTimeout ?? 1000
        return limits
    }
}

struct DrawnBackend {
    var name: String
    var hosts: [DrawnHost]
    var header: String?
    var connectTimeout: Int
    var maxConcurrent: Int?
    var queue: (size: Int, wait: Int)?
    var breaker: DrawnBreaker?
    var isRoundRobin: Bool?
    var keepalive: (maxIdle: Int, idleTimeout: Int)?
    var dnsTTL: Int?
    var eject: (after: Int, duration: Int)?
    var health: DrawnHealth?
    /// Set if the URLs have `https://`.
    var tls: DrawnTLS?
    /// Set with `protocol: http2`.
    var http2: DrawnHTTP2?
}

/// `health:` of a backend.
struct DrawnHealth {
    var generation: Int
    var every: Int

    /// Contains the generation, so that checks of a replaced configuration can be recognised.
    var path: String { "/health\(generation)" }

    static func generation(of segment: Substring) -> Int? {
        segment.hasPrefix("health") ? Int(segment.dropFirst(6)) : nil
    }
}

struct DrawnBreaker {
    var openAtPercent: Int
    var minRequests: Int
    var window: Int
    var tryAgainAfter: Int
}

/// A host of a backend: a name or an address, a port, and the prefix of its URL.
struct DrawnHost: Equatable {
    var host: String
    var port: UInt16
    var prefix: String

    var isName: Bool { host.hasSuffix(".test") }
}

struct DrawnEndpoint {
    var index: Int
    var method: String
    var params: [DrawnParam]
    var body: DrawnBody?
    var forwardHeaders: [String] = []
    var forwardQuery: [String] = []
    /// `query: all`, instead of names.
    var forwardsAllQuery = false
    var deadline: Int
    var timeout: Int
    var minDuration: Int?
    var roundUpTo: Int?
    var succeedWhen: SucceedWhen?
    var report: Report?
    var exposesDetails: Bool
    var partialStatus: Int?
    var cacheControl: String?
    var serverTiming: Bool
    var maxInFlight: Int?
    var maxBody: Int
    var entry = DrawnEndpointEntry()
    var limitUses: [DrawnLimitUse] = []
    /// Nil if the configuration has no authenticators.
    var auth: DrawnEndpointAuth?
    var input = DrawnInput()
    var calls: [DrawnCall]
    /// Instead of calls.
    var proxy: DrawnProxy?

    enum SucceedWhen: String { case any, all, required }
    enum Report: String { case body, header, off }

    /// Its path, without the value of `id`.
    var path: String { "/e\(index)" }

    var hasID: Bool { params.contains { $0.name == "id" } }

    var isProtected: Bool { auth.map { !$0.kinds.isEmpty } ?? false }

    /// `query: all` forwards every parameter, so none is unknown.
    var refusesUnknownQuery: Bool {
        input.refusesUnknownQuery
            && !(forwardsAllQuery && calls.contains { $0.forwardHeaders == nil })
    }

    /// The query parameters that are declared, forwarded, or used by a condition.
    var knownQuery: [String] {
        params.filter { $0.isDeclared && !$0.isHeader && $0.name != "id" }.map(\.name)
            + (calls.contains { $0.forwardHeaders == nil } ? forwardQuery : [])
            + calls.compactMap(\.when).flatMap(\.queryNames)
            + (auth?.requirements ?? []).flatMap(\.queryNames)
            + limitUses.compactMap(\.when).flatMap(\.queryNames)
    }

    /// Calls whose failure fails the request.
    var requiredCalls: [DrawnCall] {
        calls.filter { $0.isRequired || succeedWhen == .all }
    }
}

/// One of the four parameters that drawn endpoints may have.
struct DrawnParam {
    var name: String
    var isDeclared = true
    /// `type: integer, min: 1, max: 999`; otherwise a string.
    var isInteger = false
    var oneOf: [String] = []
    var fallback: String?
    var isRequired = false
    var maxLength: Int?
    var isHeader = false
}

/// `body:` of an endpoint: an object with the field `user`.
struct DrawnBody {
    var max: Int?
}

struct DrawnCall {
    var index: Int
    var name: String
    var backend: Int
    var method: String
    var uses: [DrawnUse]
    /// Calls that it waits for without the use of their values.
    var after: [Int]
    var sendsBody: Bool
    var forwardHeaders: [String]?
    var isRequired: Bool
    var timeout: Int?
    /// Nil means 200-299.
    var accept: [ClosedRange<Int>]?
    var relayStatus: [ClosedRange<Int>]?
    var relaysBody: Bool
    var relayHeaders: [String]
    var retry: DrawnRetry?
    var hedgeAfter: Int?
    var shape: DrawnShape
    var isAtRoot: Bool
    var failsOnCollision: Bool
    var ifFailed: IfFailed?
    var when: DrawnCondition?
    /// Sends its own `X-Shared` instead of the endpoint's.
    var replacesSharedHeader = false

    enum IfFailed: Equatable {
        case omit
        case value(String)
    }

    var isIdempotent: Bool { method != "POST" && method != "PATCH" }

    /// The calls that it waits for.
    var waitsFor: [Int] {
        after
            + uses.compactMap { if case .call(let index, _) = $0.source { index } else { nil } }
            + (when?.calls ?? [])
    }

    func accepts(_ status: Int) -> Bool {
        (accept ?? [200...299]).contains { $0.contains(status) }
    }

    func relays(_ status: Int) -> Bool {
        (relayStatus ?? [404...404, 410...410]).contains { $0.contains(status) }
    }
}

struct DrawnRetry {
    var attempts: Int
    /// `connect`, `terminated`, `502` ...; nil means the default.
    var on: [String]?
    var backoff: Int

    func repeats(_ condition: String) -> Bool {
        (on ?? ["connect", "terminated"]).contains(condition)
    }
}

/// A `{...}` reference in a call.
struct DrawnUse {
    enum Source: Equatable {
        case param(String)
        case header(String)
        /// Only in conditions, as the client and the caller.
        case query(String)
        case client
        case caller
        case bodyField(String)
        case call(Int, path: String)
    }

    enum Place { case path, query, header }

    var source: Source
    var place: Place
    /// `{name?}`: an absent value is omitted.
    var isOptional = false
}
