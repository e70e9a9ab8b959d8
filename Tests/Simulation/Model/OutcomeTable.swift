import Rehearsal

/// The outcome table of the reference, row by row: a second, simple model of the gateway's
/// statuses.
enum OutcomeTable {
    /// The status when a required call fails.
    static func status(of failure: ListedFailure, _ call: DrawnCall) -> Int {
        switch failure.kind {
        case .unexpectedStatus:
            guard let status = failure.status, call.relays(status) else { return 502 }
            return status
        case .responseTimeout, .connectionTimeout: return 504
        case .breakerOpen, .queueFull, .destinationUnavailable, .connectionLimitReached: return 503
        case .skipped: return failure.isClientsFault ? 400 : 502
        case .dnsError, .connectionRefused, .connectionTerminated, .responseIncomplete,
            .responseHeaderSize, .responseHeaderCount, .responseBodySize, .responseContentCoding,
            .protocolError, .certificateError, .invalidJSON, .invalidShape,
            .collision, .tooManyElements, .truncated, .cancelled:
            return 502
        }
    }

    /// The status when all calls fail and none is required.
    static func status(ofAll failures: [ListedFailure]) -> Int {
        let counted = failures.filter { $0.kind != .skipped && $0.kind != .cancelled }
        if counted.isEmpty { return failures.allSatisfy(\.isClientsFault) ? 400 : 502 }
        if counted.allSatisfy({ $0.kind == .responseTimeout || $0.kind == .connectionTimeout }) {
            return 504
        }
        let refusals: [FailureKind] = [
            .breakerOpen, .queueFull, .destinationUnavailable, .connectionLimitReached,
        ]
        return counted.allSatisfy { refusals.contains($0.kind) } ? 503 : 502
    }
}

extension ListedFailure {
    /// Skipped because the client did not send a value.
    var isClientsFault: Bool {
        guard kind == .skipped, let because else { return false }
        return because.hasPrefix("params.") || because.hasPrefix("request.")
    }
}
