import HTTP

/// The table "Status of the answer" of the configuration's contract, as functions.
enum OutcomeStatus {
    /// A required call failed: its failure decides.
    static func required(_ failure: CallFailure, of call: CallPlan) -> Status {
        if let status = failure.status, call.relays(failure) { return status }
        return failure.isClientsFault ? .badRequest : failure.kind.facts.group.status
    }

    /// One was enough, and all failed. Skipped and cancelled calls have no vote.
    static func allFailed(_ failures: [CallFailure]) -> Status {
        let votes = failures.map(\.kind.facts.group).filter { $0 != .silent }
        guard let first = votes.first else { return skippedOnly(failures) }
        return votes.allSatisfy { $0 == first } ? first.status : .badGateway
    }

    /// No request was sent: the client's fault if each value was one that it did not send.
    private static func skippedOnly(_ failures: [CallFailure]) -> Status {
        !failures.isEmpty && failures.allSatisfy(\.isClientsFault) ? .badRequest : .badGateway
    }
}

extension CallPlan {
    /// Whether the client receives the backend's own status.
    func relays(_ failure: CallFailure) -> Bool {
        guard let status = failure.status else { return false }
        return relayStatus.contains { $0.contains(Int(status.code)) }
    }
}
