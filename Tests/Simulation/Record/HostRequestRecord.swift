import Basics
import Rehearsal
import SimReactor

/// A request that a host of a backend received, and its outcome.
struct HostRequestFacts {
    let backend: Int
    let host: Int
    /// Prefix of the path of every request to this host.
    let prefix: String
    /// The worker that sent it.
    let worker: String
    let message: PeerMessage
    let script: ScriptedResponse
    /// When the gateway sent its first byte.
    let sent: Instant
    /// When the gateway read the last byte of the response; nil if it never did.
    let read: Instant?
    /// When the gateway was done with it: it had the response, or closed the connection.
    let ended: Instant?
    /// The TLS session of the connection; nil without TLS.
    let session: SimSession?
    /// Number of earlier requests on the same connection.
    let before: Int
    /// The host had sent unsolicited data on this connection, so responses cannot be assigned to requests.
    let isAmbiguous: Bool
    /// The gateway had already read that data when it used the connection.
    let reusesSpoiledConnection: Bool
    /// The host closed a reused connection, so the gateway may resend the request.
    let mayBeResent: Bool
    /// Nil over HTTP/1.1.
    let http2: HTTP2Facts?
}

/// A request at a host over HTTP/2.
struct HTTP2Facts {
    /// The host has not processed it.
    let wasRefused: Bool
    /// The connection ended before the gateway had its result.
    let wasLost: Bool
    /// The gateway had read the head of its response.
    let hasReadHead: Bool
    /// What the host did to its connection.
    let connectionEnd: HTTP2Exchange.ConnectionEnd?
    /// When the host closed its connection: from then on it did not see whether the gateway reset the stream.
    let hostClosed: Instant?
    /// The host states a limit of streams, which may delay a request.
    let isLimited: Bool

    var hasHostClosed: Bool { hostClosed != nil }
}

/// A request at a host, together with its purpose.
protocol HostRequestRecord {
    var facts: HostRequestFacts { get }
}

extension HostRequestRecord {
    var backend: Int { facts.backend }
    var host: Int { facts.host }
    var worker: String { facts.worker }
    var message: PeerMessage { facts.message }
    var script: ScriptedResponse { facts.script }
    var sent: Instant { facts.sent }
    var read: Instant? { facts.read }
    var ended: Instant? { facts.ended }
    var session: SimSession? { facts.session }
    var before: Int { facts.before }
    var isAmbiguous: Bool { facts.isAmbiguous }
    var reusesSpoiledConnection: Bool { facts.reusesSpoiledConnection }
    var mayBeResent: Bool { facts.mayBeResent }
    var http2: HTTP2Facts? { facts.http2 }
    var wasRefused: Bool { facts.http2?.wasRefused ?? false }
}

/// One attempt of a call.
struct AttemptRecord: HostRequestRecord {
    let facts: HostRequestFacts
    /// Number and mark of the client's request that the call belongs to.
    let request: Int
    let mark: String
    let call: CallKey
    /// Counts the attempts of the call, from 0.
    let ordinal: Int
}

/// A health check.
struct ProbeRecord: HostRequestRecord {
    let facts: HostRequestFacts
    /// Generation of the configuration that the check belongs to, from its path.
    let generation: Int
    /// Whether the check succeeded; nil where that cannot be known, or while it is in progress.
    let isHealthy: Bool?
}
