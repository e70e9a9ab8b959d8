/// What holds where the configuration says nothing. CONFIG names each of them; the reference lists them.
enum PlanDefaults {
    /// Long enough for a slow page, short enough that a hung backend is noticed.
    static let deadline: Duration = .seconds(5)
    /// One call; two slow ones in a row still fit the deadline.
    static let timeout: Duration = .seconds(2)
    /// A host that takes a second to accept is as good as down.
    static let connectTimeout: Duration = .seconds(1)
    /// Bytes of a request body, and of each backend answer.
    static let bodyMax = 1 << 20

    static let connections = 10_000
    static let requestsInFlight = 2_000
    static let bufferedBytes = 256 << 20
    static let headerBytes = 32 << 10
    static let headerCount = 100
    static let uriBytes = 8 << 10
    static let headerTimeout: Duration = .seconds(10)
    static let bodyTimeout: Duration = .seconds(30)
    static let writeTimeout: Duration = .seconds(30)
    static let idleTimeout: Duration = .seconds(60)

    static let maxIdle = 1024
    static let poolIdleTimeout: Duration = .seconds(60)
    static let dnsTTL: Duration = .seconds(30)

    static let breakerOpenAt = 0.5
    static let breakerRequestsMin = 20
    static let breakerWindow: Duration = .seconds(10)
    static let breakerTryAgainAfter: Duration = .seconds(10)

    static let ejectAfter = 5
    static let ejectFor: Duration = .seconds(10)
    /// Often enough that a host which comes back is soon used again.
    static let healthEvery: Duration = .seconds(5)
    /// A host that takes a second to say that it is well is not.
    static let healthPatience: Duration = .seconds(1)

    static let queueWait: Duration = .milliseconds(50)

    static let retryAttempts = 2
    static let retryBackoff: Duration = .milliseconds(25)

    static let drainTimeout: Duration = .seconds(30)

    static let listenHost = "127.0.0.1"
    static let listenPort: UInt16 = 8080

    static let accept = [200...299]
    static let relayStatus = [404...404, 410...410]
}
