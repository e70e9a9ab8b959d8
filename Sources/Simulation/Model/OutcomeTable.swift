import Rehearsal

/// The table "Status of the answer" of CONFIG, read line by line: a second, simple model of what the
/// gateway does.
enum OutcomeTable {
    /// A required call failed.
    static func status(of failure: ToldFailure, _ call: DrawnCall) -> Int {
        switch failure.kind {
        case .unexpectedStatus:
            guard let status = failure.status, call.relays(status) else { return 502 }
            return status
        case .responseTimeout, .connectionTimeout: return 504
        case .breakerOpen, .queueFull, .destinationUnavailable, .connectionLimitReached: return 503
        case .skipped: return failure.isClientsFault ? 400 : 502
        case .dnsError, .connectionRefused, .connectionTerminated, .responseIncomplete,
            .responseBodySize, .protocolError, .certificateError, .invalidJSON, .invalidShape,
            .collision, .cancelled:
            return 502
        }
    }

    /// One was enough, and all failed.
    static func status(ofAll failures: [ToldFailure]) -> Int {
        let votes = failures.filter { $0.kind != .skipped && $0.kind != .cancelled }
        if votes.isEmpty { return failures.allSatisfy(\.isClientsFault) ? 400 : 502 }
        if votes.allSatisfy({ $0.kind == .responseTimeout || $0.kind == .connectionTimeout }) {
            return 504
        }
        let refusals: [FailureKind] = [
            .breakerOpen, .queueFull, .destinationUnavailable, .connectionLimitReached,
        ]
        return votes.allSatisfy { refusals.contains($0.kind) } ? 503 : 502
    }
}

extension ToldFailure {
    /// Skipped for want of something that the client did not send.
    var isClientsFault: Bool {
        guard kind == .skipped, let because else { return false }
        return because.hasPrefix("params.") || because.hasPrefix("request.")
    }
}
