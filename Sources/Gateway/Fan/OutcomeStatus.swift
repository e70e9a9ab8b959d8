import HTTP

/// The table "Status of the answer" of the configuration's contract, as functions.
enum OutcomeStatus {
    /// A required call failed: its failure decides.
    static func required(_ failure: CallFailure, of call: CallPlan) -> Status {
        if let status = failure.status, call.relays(failure) { return status }
        if failure.isTimeout { return .gatewayTimeout }
        if failure.isRefusal { return .serviceUnavailable }
        if case .client = failure.because { return .badRequest }
        return .badGateway
    }

    /// One was enough, and all failed. Skipped and cancelled calls have no vote.
    static func allFailed(_ failures: [CallFailure]) -> Status {
        let votes = failures.filter { !$0.isSilent }
        guard !votes.isEmpty else { return skippedOnly(failures) }
        if votes.allSatisfy(\.isTimeout) { return .gatewayTimeout }
        if votes.allSatisfy(\.isRefusal) { return .serviceUnavailable }
        return .badGateway
    }

    /// Nothing was sent at all: the client's fault if each value was one that it did not send.
    private static func skippedOnly(_ failures: [CallFailure]) -> Status {
        let clients = failures.filter { if case .client = $0.because { true } else { false } }
        return !failures.isEmpty && clients.count == failures.count ? .badRequest : .badGateway
    }
}

extension CallPlan {
    /// Whether the client is told the backend's own status.
    func relays(_ failure: CallFailure) -> Bool {
        guard failure.kind == .unexpectedStatus, let status = failure.status else { return false }
        return relayStatus.contains { $0.contains(Int(status.code)) }
    }
}
