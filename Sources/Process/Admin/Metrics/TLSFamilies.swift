import Assembly
import HTTPServer
import Reactor

// The TLS of listeners: handshakes and certificates.
extension MetricsWriter {
    mutating func writeTLS(_ snapshots: [WorkerSnapshot]) {
        let states = snapshots.compactMap(\.tls)
        guard var total = states.first else { return }
        for state in states.dropFirst() { total.add(state) }
        family(
            "tributary_tls_handshakes_total", .counter,
            "TLS handshakes of clients, by result.")
        for outcome in HandshakeCounts.Outcome.all {
            let (version, isResumed) = outcome.details
            sample(
                MetricLabels("result", outcome.name).adding("version", version)
                    .adding("resumed", isResumed),
                total.handshakes[outcome])
        }
        usage(
            "tributary_tls_handshakes_in_progress", "Connections in their TLS handshake.",
            total.inProgress, total.inProgressMax)
        family(
            "tributary_tls_certificate_not_after", .gauge,
            "When the certificate of a listener expires, in seconds since 1970.")
        for certificate in total.certificates {
            sample(MetricLabels("name", certificate.name), Int(certificate.notAfter))
        }
    }
}

extension HandshakeCounts.Outcome {
    fileprivate var name: String {
        switch self {
        case .succeeded: "ok"
        case .failed: "failed"
        case .timedOut: "timeout"
        case .plainText: "plain_text"
        case .cancelled: "cancelled"
        }
    }

    /// The labels `version` and `resumed`; empty for a handshake that did not succeed.
    fileprivate var details: (version: String, isResumed: String) {
        guard case .succeeded(let version, let isResumed) = self else { return ("", "") }
        return (version == .tls13 ? "1.3" : "1.2", isResumed ? "true" : "false")
    }
}
