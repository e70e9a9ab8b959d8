import Basics
import HTTP
import HTTP2

/// How fast the client takes the response of a stream.
extension H2ServerStream {
    /// When the present measurement for `write_timeout` began, or the client took the last bytes, whichever
    /// is earlier.
    var slowSince: Instant {
        min(max(timeoutPace.since, stream.queuedSince), stream.lastTaken)
    }

    /// Whether the client took too little of the response in `write_timeout`, or nothing. If it took enough, the next
    /// measurement begins.
    func isTooSlow(_ now: Instant) -> Bool {
        guard stream.queuedBytes > 0, let server = connection?.server else { return false }
        let timeout = server.settings.limits.writeTimeout
        begin(&timeoutPace)
        guard now < stream.lastTaken + timeout else { return true }
        guard now >= timeoutPace.since + timeout else { return false }
        let held = stream.queuedBytes + timeoutPace.transferred(stream.sentBytes)
        return timeoutPace.slowSince(
            stream.sentBytes, needing: held / Self.timeoutsMax, now: now) != nil
    }

    /// In one `write_timeout` a client must take a sixteenth of what its stream holds: a minimum rate in
    /// proportion to the memory.
    private static let timeoutsMax = 16

    /// Since when the client takes so little that it would not take all that the stream holds in
    /// `write_timeout`.
    func blockedSince(_ now: Instant, _ server: ServerContext) -> Instant? {
        guard stream.queuedBytes > 0 else { return nil }
        begin(&shortagePace)
        let held = stream.queuedBytes + shortagePace.transferred(stream.sentBytes)
        let share = (now - shortagePace.since) / server.settings.limits.writeTimeout
        let needed = Int(min(1, max(0, share)) * Double(held))
        return shortagePace.slowSince(stream.sentBytes, needing: needed, now: now)
    }

    /// A measurement begins when bytes begin to wait.
    private func begin(_ pace: inout ClientPace) {
        guard stream.queuedSince > pace.since else { return }
        pace = ClientPace(since: stream.queuedSince, base: stream.sentWhenQueued)
    }
}
