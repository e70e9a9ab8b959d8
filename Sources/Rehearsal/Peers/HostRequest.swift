package import Basics
package import SimReactor

/// A request that a host of a backend received, and its outcome: an attempt of a call, or a health
/// check.
package class HostRequest {
    /// The host that received it.
    package let target: BackendHost
    /// Name of the worker that sent it.
    package let worker: String
    package let message: PeerMessage
    package let script: ScriptedResponse
    package let arrived: Instant
    /// The connection, and where request and response begin on it.
    private let position: ConnectionPosition
    /// When the host noticed that the gateway had ended the connection.
    package var givenUp: Instant?
    package var hasResponded = false
    /// Nil over HTTP/1.1.
    package var http2: HTTP2Exchange?

    package init(
        _ message: PeerMessage, at target: BackendHost, script: ScriptedResponse, arrived: Instant,
        on position: ConnectionPosition
    ) {
        self.target = target
        self.message = message
        self.script = script
        self.arrived = arrived
        self.position = position
        worker = position.stream.peerName ?? ""
    }

    package var backend: Int { target.backend }
    package var host: Int { target.host }
    package var stream: SimStream { position.stream }
    /// Number of earlier requests on the same connection.
    package var before: Int { position.before }
    package var responseStart: Int { position.responseStart }

    /// The host had sent unsolicited data on this connection, so responses cannot be assigned to requests.
    package var isAmbiguous: Bool { position.unsolicitedStart != nil }

    /// The gateway had already read unsolicited data when it wrote the request, be it at the same time.
    /// Only the first use counts: the gateway took that data for the response to it, as HTTP/1.1 demands.
    package var reusesSpoiledConnection: Bool {
        guard let start = position.unsolicitedStart, position.isFirstAfterUnsolicited else {
            return false
        }
        return stream.outgoingJournal.wasRead(
            at: start, before: stream.incomingJournal, wroteAt: position.requestStart)
    }

    /// When the gateway sent its first byte.
    package var sent: Instant {
        stream.incomingJournal.written(at: position.requestStart) ?? arrived
    }

    /// When the gateway read the last byte of the response; nil if it never did.
    package var read: Instant? {
        if let http2 { return readHTTP2(http2) }
        guard case .response = script.outcome, script.responseLength > 0,
            let last = stream.outgoingJournal.read(at: responseStart + script.responseLength - 1)
        else { return nil }
        // Without a length, the end of the connection completes the response. That the gateway closed
        // its side proves nothing: a cancelled call closes it, too.
        return script.endsWithConnection ? stream.outgoingJournal.endRead : last
    }

    /// When the gateway was done with it: it had read the response, or had closed the connection.
    package var ended: Instant? {
        [
            read, stream.incomingJournal.closed, stream.outgoingJournal.abandoned, resetWritten,
            failureRead,
        ].compactMap { $0 }.min()
    }

    /// The host ended the connection before the first byte of a response.
    package var endedBeforeResponse: Bool {
        if case .fails(.connectionTerminated) = script.outcome { true } else { false }
    }

    /// The host closed a reused connection, so the gateway may resend the request (RFC 9112 9.3.1).
    package var mayBeResent: Bool {
        if let http2 { return http2.wasRefused || wasLost && !hasReadHead && reusesConnection }
        return before > 0 && endedBeforeResponse
    }
}

// A request over HTTP/2 shares its connection.
extension HostRequest {
    private func readHTTP2(_ http2: HTTP2Exchange) -> Instant? {
        guard case .response = script.outcome, !http2.wasRefused, let end = http2.responseEnd,
            let last = stream.outgoingJournal.read(at: end - 1)
        else { return nil }
        // It resets only what it has cancelled before.
        return resetWritten.map { $0 <= last } ?? false ? nil : last
    }

    /// When the gateway reset the stream.
    package var resetWritten: Instant? {
        http2?.resetStart.flatMap { stream.incomingJournal.written(at: $0) }
    }

    /// Whether the gateway has read the head of the response.
    package var hasReadHead: Bool {
        http2?.headEnd.map { stream.outgoingJournal.read(at: $0 - 1) != nil } ?? false
    }

    /// The connection ended before the gateway had its result.
    package var wasLost: Bool {
        guard let http2, http2.connectionEnd != nil, !http2.wasRefused else { return false }
        return failureRead == nil && resetWritten == nil && read == nil
    }

    /// When the gateway read that the host had reset the stream; nil if the connection ended before.
    private var failureRead: Instant? {
        http2?.failureEnd.flatMap { stream.outgoingJournal.read(at: $0 - 1) }
    }

    /// A response on the connection was complete before the request was sent.
    private var reusesConnection: Bool {
        let start = position.requestStart
        return http2?.earlier.contains { former in
            guard former.read != nil, let end = former.http2?.responseEnd else { return false }
            return stream.outgoingJournal.wasRead(
                at: end - 1, before: stream.incomingJournal, wroteAt: start)
        } ?? false
    }
}

/// A health check that a host received.
package final class Probe: HostRequest {
    /// Generation of the configuration that the check belongs to, from its path.
    package let generation: Int

    package init(
        generation: Int, _ message: PeerMessage, at target: BackendHost, script: ScriptedResponse,
        arrived: Instant,
        on position: ConnectionPosition
    ) {
        self.generation = generation
        super.init(message, at: target, script: script, arrived: arrived, on: position)
    }

    /// Whether the check succeeded; nil where that cannot be known, or while it is in progress.
    package var isHealthy: Bool? {
        guard !isAmbiguous, ended != nil else { return nil }
        guard case .response(let status, _, _) = script.outcome, read != nil else { return false }
        return (200..<300).contains(status)
    }
}

/// A host of a backend, by its index in the configuration.
package struct BackendHost {
    package let backend: Int
    package let host: Int
    /// Prefix of the path of every request.
    package let prefix: String

    package init(backend: Int, host: Int, prefix: String) {
        self.backend = backend
        self.host = host
        self.prefix = prefix
    }
}

/// The position of a request on its connection.
package struct ConnectionPosition {
    package let stream: SimStream
    package let requestStart: Int
    package let responseStart: Int
    /// Number of earlier requests on the same connection.
    package let before: Int
    /// Position of the first unsolicited byte that the host sent before this request; nil if there is
    /// none.
    package let unsolicitedStart: Int?
    /// No other request arrived since then.
    package let isFirstAfterUnsolicited: Bool

    init(
        stream: SimStream, requestStart: Int, responseStart: Int, before: Int,
        unsolicitedStart: Int?, isFirstAfterUnsolicited: Bool
    ) {
        self.stream = stream
        self.requestStart = requestStart
        self.responseStart = responseStart
        self.before = before
        self.unsolicitedStart = unsolicitedStart
        self.isFirstAfterUnsolicited = isFirstAfterUnsolicited
    }

    /// On a connection of HTTP/2, which has no unsolicited data.
    package init(stream: SimStream, requestStart: Int, before: Int) {
        self.init(
            stream: stream, requestStart: requestStart, responseStart: 0, before: before,
            unsolicitedStart: nil, isFirstAfterUnsolicited: false)
    }
}
