import HTTP

/// Status of the response when calls failed, as the reference documents it.
enum OutcomeStatus {
    /// A required call failed: its failure decides the status.
    static func required(_ failure: CallFailure, of call: CallPlan) -> Status {
        if let status = failure.status, call.relays(failure) { return status }
        if failure.isMissingClaim { return .forbidden }
        return failure.isClientError ? .badRequest : failure.kind.facts.group.status
    }

    /// All calls failed where one was enough. Skipped and cancelled calls do not count.
    static func allFailed(_ failures: [CallFailure]) -> Status {
        let groups = failures.map(\.kind.facts.group).filter { $0 != .neutral }
        guard let first = groups.first else { return skippedOnly(failures) }
        return groups.allSatisfy { $0 == first } ? first.status : .badGateway
    }

    /// No request was sent: 403 if only claims are missing, 400 if every missing value is one that
    /// the client did not send.
    private static func skippedOnly(_ failures: [CallFailure]) -> Status {
        if !failures.isEmpty && failures.allSatisfy(\.isMissingClaim) { return .forbidden }
        return !failures.isEmpty && failures.allSatisfy(\.isClientError) ? .badRequest : .badGateway
    }
}

extension CallPlan {
    /// Whether the client receives the backend's own status.
    func relays(_ failure: CallFailure) -> Bool { failure.status.map(relays) ?? false }
}
