import Rehearsal
import SimReactor

/// One attempt of a call, or a health check, as a host saw it. Its times come from the journals of its
/// connection, which do not change any more when the run is over.
typealias AttemptRecord = Attempt
typealias ProbeRecord = Probe

extension HostRequest {
    /// The TLS session of the connection; nil without TLS.
    var session: SimSession? { stream.session }
    var wasRefused: Bool { http2?.wasRefused ?? false }
    /// The host closed its connection: from then on it did not see whether the gateway reset the stream.
    var isUnseen: Bool { http2?.hostClosed != nil }
}
