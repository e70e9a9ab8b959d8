package import HTTP
package import JOSE

/// The default values; the reference lists them.
package enum PlanDefaults {
    /// Long enough for a slow page, short enough that a hung backend is noticed.
    package static let deadline: Duration = .seconds(5)
    /// One call; two slow ones in a row still fit the deadline.
    package static let timeout: Duration = .seconds(2)
    /// A host that takes a second to accept is as good as down.
    package static let connectTimeout: Duration = .seconds(1)
    /// Bytes of a request body, and of each backend response.
    package static let bodyMax = server.limits.bodyBytes

    package static let report = Config.Endpoint.Report.body
    package static let expose = Config.Endpoint.Expose.kinds
    package static let partialStatus = 200

    /// For `limits`; `ServerSettings` gives the reason of each.
    package static let server = ServerSettings()

    /// `limits.requests_per_client`: a quarter of all, so that no client keeps others out, and what one
    /// HTTP/2 connection may open.
    package static func requestsPerClient(of requestsInFlight: Int) -> Int {
        max(requestsInFlight / 4, server.streamsPerConnection)
    }

    package static let workers = Config.Workers.auto
    package static let logFormat = Config.Log.Format.json
    package static let logLevel = Config.Log.Level.info
    package static let logAccess = true
    package static let logQuery = Config.Log.Query.names

    /// In millionths. 1 %: enough to see what is usual, and little work for a busy gateway.
    package static let traceShare = 10_000
    /// Far above the usual time of a page, and below the default deadline.
    package static let traceSlow: Duration = .seconds(1)
    package static let traceService = "tributary"
    /// As the exporters of OpenTelemetry have it.
    package static let traceTimeout: Duration = .seconds(10)

    /// By backend only: the number of time series must not surprise an operator.
    package static let metricsPerCall = false

    package static let addressFrom = Config.Clients.AddressSource.forwardedFor
    package static let securityHeaders = Config.SecurityHeaders.nosniff
    package static let apiKeyHeader = "X-Api-Key"
    /// Enough for a client that is configured wrongly, few for guesses.
    package static let authFailures = Config.Rate(100, per: .minute)
    package static let tokenHeader = "Authorization"
    package static let tokenAlgorithms = [SignatureAlgorithm.rs256, .es256]
    package static let tokenLeeway: Duration = .seconds(30)
    package static let tokensRemembered = 1000
    package static let secretEncoding = Config.TokenKeys.SecretEncoding.text
    package static let keysRefresh: Duration = .seconds(600)
    package static let keysStale: Duration = .seconds(86_400)
    package static let keysUnknownKid: Duration = .seconds(30)
    package static let unknownQuery = Config.Endpoint.UnknownQuery.drop
    package static let unknownFields = Config.Body.UnknownFields.keep
    package static let corsMaxAge: Duration = .seconds(600)
    package static let limitShare = Config.RateLimit.Share.process
    package static let limitWhenDown = Config.RateLimit.WhenDown.local
    package static let limitReplicas = 1
    package static let announce = Config.RateLimit.Announce.always
    /// What one host can choose its addresses from.
    package static let ipv6Prefix = 64
    package static let forwarded = Config.Forwarded.off
    package static let balance = Config.Balance.leastRequests

    package static let maxIdle = 1024
    package static let poolIdleTimeout: Duration = .seconds(60)
    package static let poolMaxAge: Duration = .seconds(300)
    package static let dnsTTL: Duration = .seconds(30)

    /// Many backends write each response separately, which makes HTTP/2 more expensive than HTTP/1.1.
    package static let backendProtocol = Config.BackendProtocol.http1
    /// What most servers allow.
    package static let backendStreams = 100
    /// One lost packet delays a quarter of the calls, and 400 calls run at once.
    package static let backendConnections = 4
    /// Far above the time of a usual call, so that a busy connection is rarely tested.
    package static let pingAfter: Duration = .seconds(10)
    /// Several round trips to the other side of the world.
    package static let pingTimeout: Duration = .seconds(2)

    package static let breakerOpenAt = 0.5
    package static let breakerRequestsMin = 20
    package static let breakerWindow: Duration = .seconds(10)
    package static let breakerTryAgainAfter: Duration = .seconds(10)

    package static let ejectAfter = 5
    package static let ejectFor: Duration = .seconds(10)
    /// Often enough that a host is soon used again after it has recovered.
    package static let healthEvery: Duration = .seconds(5)
    /// A host that needs more than a second to respond is unhealthy.
    package static let healthTimeout: Duration = .seconds(1)

    package static let queueWait: Duration = .milliseconds(50)

    package static let retryOn = [Config.Call.Retry.Condition.connect, .terminated]
    package static let retryAttempts = 2
    package static let retryBackoff: Duration = .milliseconds(25)

    /// To the head of a response; longer than a call's, because no other part waits for it.
    package static let proxyTimeout: Duration = .seconds(30)
    package static let proxyIdleTimeout: Duration = .seconds(300)
    package static let proxyForwarded = Config.Forwarded.x
    package static let proxyClientCert = Config.Proxy.ClientCert.off
    package static let proxyUnderscores = Config.Proxy.Underscores.drop
    package static let proxyCredential = Config.Proxy.Credential.drop
    package static let proxyInterim = Config.Proxy.Interim.http2

    package static let drainTimeout: Duration = .seconds(30)

    package static let storePrefix = "tributary"
    /// A store on the same network replies within a millisecond.
    package static let storeTimeout: Duration = .milliseconds(50)
    package static let storeConnectTimeout: Duration = .seconds(1)

    package static let listenHost = "127.0.0.1"
    package static let listenPort: UInt16 = 8080
    package static func clientProtocols(hasTLS: Bool) -> [Config.ClientProtocol] {
        hasTLS ? [.http2, .http1] : [.http1]
    }
    package static let unknownName = Config.ListenTLS.UnknownName.first
    package static let tlsPolicy = Config.ListenTLS.Policy.intermediate
    package static let clientCertificate = Config.ListenTLS.ClientCertificate.required
    /// A ticket is valid for as long; half a day keeps the clients of a working day.
    package static let ticketLifetime: Duration = .seconds(12 * 3600)
    /// A handshake needs three round trips at most.
    package static let handshakeTimeout: Duration = .seconds(10)

    package static let accept = [200...299]
    package static let relayStatus = [404...404, 410...410]
    package static let onCollision = Config.Call.Collision.drop
    package static let listMax = 32
    package static let listParallel = 8
    package static let listOver = Config.Call.Each.Over.refuse
}
