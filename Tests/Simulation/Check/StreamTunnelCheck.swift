import Rehearsal

/// Both sides of a tunnel get all that the other one has sent before it ended its direction. A tunnel ends
/// with its host's direction; a client that ends its own still receives.
struct StreamTunnelCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for model in models {
            guard let origin = model.origin, origin.script.upgrade != nil else { continue }
            checkDownload(model, origin)
            checkUpload(model, origin)
        }
    }

    private func add(_ model: StreamModel, _ text: String) {
        violations.add(.streams, model.mark, text)
    }

    private func checkDownload(_ model: StreamModel, _ origin: StreamAttempt) {
        guard model.loggedOutcome == "ok", model.loggedEnd == nil else { return }
        if !origin.isSentWhole, !model.mayBeCutOff {
            return add(model, "the tunnel ended well, and its host had not ended it")
        }
        let isUndisturbed =
            model.stream.disconnected == nil && !model.mayBeCutOff && model.stream.hasEndedTunnel
            && !model.mayBeClosedUnread
        if isUndisturbed, model.stream.isComplete, model.stream.received != origin.sent {
            add(
                model,
                "the client got \(model.stream.received) bytes of the tunnel, of \(origin.sent)")
        }
    }

    /// The host has seen the end of the client before it had ended its own direction. A client that
    /// closes its connection looks the same until something is sent to it.
    private func checkUpload(_ model: StreamModel, _ origin: StreamAttempt) {
        guard origin.sawTunnelEnd, model.loggedEnd == nil, !model.mayBeCutOff,
            model.stream.hasEndedTunnel || model.stream.disconnected == nil
        else { return }
        if !model.stream.hasEndedTunnel || origin.received != model.stream.sentInTunnel {
            add(
                model,
                "the host got the end of the tunnel behind \(origin.received) bytes, of"
                    + " \(model.stream.sentInTunnel), ended: \(model.stream.hasEndedTunnel)")
        }
    }
}
