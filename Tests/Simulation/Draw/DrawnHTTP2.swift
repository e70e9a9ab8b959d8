import Rehearsal

/// `protocol: http2` of a backend, with its `http2:`. Times are in milliseconds.
struct DrawnHTTP2: Equatable {
    var maxStreams: Int?
    var maxConnections: Int?
    var pingAfter: Int?
    /// Longer than any packet takes, unless the network stalls or takes few bytes at once.
    var pingTimeout: Int

    init(_ random: RandomSource) {
        maxStreams = random.maybe(0.4, random.pick([1, 2, 3, 10]))
        maxConnections = random.maybe(0.4, random.number(1...3))
        pingAfter = random.maybe(0.6, random.number(20...400))
        pingTimeout = random.number(50...300)
    }

    /// The value of `http2:`.
    var written: String {
        var keys = ["ping_timeout: \(pingTimeout)ms"]
        if let maxStreams { keys.append("max_streams: \(maxStreams)") }
        if let maxConnections { keys.append("max_connections: \(maxConnections)") }
        if let pingAfter { keys.append("ping_after: \(pingAfter)ms") }
        return "{ \(keys.joined(separator: ", ")) }"
    }
}
