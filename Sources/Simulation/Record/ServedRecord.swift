import Basics
import Rehearsal
import SimReactor

/// One request that a host of a backend received: of a call, or a health check.
struct ServedRecord {
    let backend: Int
    let host: Int
    /// Stands before the path of every request to this host.
    let prefix: String
    /// The worker that sent it.
    let worker: String
    let message: PeerMessage
    let act: Act
    /// When the gateway sent its first byte.
    let sent: Instant
    /// When the gateway read the last byte of the response; nil if it never did.
    let read: Instant?
    /// When the gateway was done with it: it had the response, or closed the connection.
    let ended: Instant?
    /// What TLS agreed on for the connection; nil on a plain one.
    let session: SimSession?
    /// Requests on the same connection before this one.
    let before: Int
    /// The backend had sent unsolicited data on this connection, so responses cannot be assigned.
    let isPoisoned: Bool
    /// The gateway had read that data before it used the connection.
    let isReckless: Bool
    /// It met the end of a kept connection, so that the gateway may resend it.
    let mayBeResent: Bool
}

/// A record of a request at a host, with what it was for.
protocol HostRequestRecord {
    var served: ServedRecord { get }
}

extension HostRequestRecord {
    var backend: Int { served.backend }
    var host: Int { served.host }
    var worker: String { served.worker }
    var message: PeerMessage { served.message }
    var act: Act { served.act }
    var sent: Instant { served.sent }
    var read: Instant? { served.read }
    var ended: Instant? { served.ended }
    var session: SimSession? { served.session }
    var before: Int { served.before }
    var isPoisoned: Bool { served.isPoisoned }
    var isReckless: Bool { served.isReckless }
    var mayBeResent: Bool { served.mayBeResent }
}

/// One attempt of a call.
struct AttemptRecord: HostRequestRecord {
    let served: ServedRecord
    /// The number of the client's request, and its mark.
    let request: Int
    let mark: String
    let call: CallKey
    /// Its place among the attempts of that call.
    let ordinal: Int
}

/// A health check.
struct ProbeRecord: HostRequestRecord {
    let served: ServedRecord
    /// The configuration that asked for it, as its path says.
    let generation: Int
    /// Whether it found the host healthy; nil where that cannot be known, or while it runs.
    let isGood: Bool?
}
