import Rehearsal

/// What connections of HTTP/2 show about the failures of calls, which share them.
extension RunRecord {
    /// Whether a host of a backend ever ended a connection that other calls may have used, refused a
    /// stream, or requested fewer connections.
    func disturbsConnections(to backend: Int) -> Bool {
        hostRequests(to: backend).contains { $0.script.http2?.disturbsConnection ?? false }
    }

    /// Whether a host of a backend ever sent malformed frames.
    func breaksConnections(to backend: Int) -> Bool {
        hostRequests(to: backend).contains { $0.script.http2?.ending == .breaksConnection }
    }

    /// A PING, or its acknowledgement, may take longer than `ping_timeout`.
    var mayLosePongs: Bool { isSlow || rates[.smallWindows] > 0 }
}

extension CallEvidence {
    /// Whether a connection of HTTP/2 may have failed a call with this kind, although the response to the
    /// call itself was another one.
    func mayHaveLostConnection(_ kind: FailureKind) -> Bool {
        guard config.backends[call.backend].http2 != nil else { return false }
        let wasLost = record.disturbsConnections(to: call.backend) || record.mayLosePongs
        switch kind {
        case .connectionTerminated: return wasLost
        case .responseIncomplete:
            return wasLost && attempts.contains { $0.hasReadHead && $0.read == nil }
        case .protocolError: return record.breaksConnections(to: call.backend)
        default: return false
        }
    }
}
