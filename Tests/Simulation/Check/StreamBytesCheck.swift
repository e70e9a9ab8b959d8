import Rehearsal

/// Each side of a stream or a tunnel gets the bytes that the other one sent, in their order. What looks
/// complete was complete; and what was complete arrives completely, unless something ended it that the
/// log names. A tunnel ends with its host's direction; a client that ends its own still receives.
struct StreamBytesCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for model in models {
            for attempt in model.attempts { checkUpload(model, attempt) }
            checkCloseFrames(model)
            if let position = model.stream.difference {
                add(model, "byte \(position) of the response's body is not the one that was sent")
            }
            guard let origin = model.origin else { continue }
            if model.stream.received > origin.sent {
                add(model, "the client got \(model.stream.received) bytes, of \(origin.sent) sent")
            }
            if origin.script.upgrade == nil {
                checkDownload(model, origin)
            } else {
                checkTunnel(model, origin)
            }
        }
    }

    private func add(_ model: StreamModel, _ text: String) {
        violations.add(.streams, model.mark, text)
    }

    /// A close frame ends both directions of a WebSocket at the end of a drain, and only there.
    private func checkCloseFrames(_ model: StreamModel) {
        let bytes = [model.stream.closeFrameBytes] + model.attempts.map(\.closeFrameBytes)
        let isTunnel = model.origin?.script.upgrade != nil
        if bytes.contains(where: { $0 > 0 }), !isTunnel || !model.mayBeCutOff {
            add(model, "a close frame without a drain of a WebSocket")
        }
    }

    private func checkUpload(_ model: StreamModel, _ attempt: StreamAttempt) {
        if let position = attempt.difference {
            add(model, "byte \(position) of the request's body is not the one that was sent")
        }
        let isTunnel = attempt.script.upgrade != nil
        let uploaded = isTunnel ? model.stream.sentInTunnel : model.stream.sent
        let looksWhole = attempt.isRequestComplete && !isTunnel
        let isWhole = model.stream.isSentWhole && attempt.received == uploaded
        if attempt.received > uploaded || looksWhole && !isWhole {
            add(
                model,
                "a host got \(attempt.received) bytes, complete: \(looksWhole), of \(uploaded),"
                    + " complete: \(model.stream.isSentWhole)")
        }
    }

    private func checkDownload(_ model: StreamModel, _ origin: StreamAttempt) {
        guard model.stream.isComplete else {
            if model.stream.left == nil, model.loggedEnd == nil, !mayBeCutOff(model),
                !model.stream.script.reading.neverEnds, !mayBeClosedUnread(model)
            {
                add(
                    model,
                    "the response broke off after \(model.stream.received) bytes, and the log has no"
                        + " end")
            }
            return
        }
        if !origin.isSentWhole || model.stream.received != origin.sent {
            add(
                model,
                "the response looked complete with \(model.stream.received) bytes, the host sent"
                    + " \(origin.sent), complete: \(origin.isSentWhole)")
        }
        checkTrailers(model, origin)
    }

    private func mayBeCutOff(_ model: StreamModel) -> Bool {
        record.excuses.add(.drain, model.request, if: model.mayBeCutOff)
    }

    private func mayBeClosedUnread(_ model: StreamModel) -> Bool {
        record.excuses.add(.slowClient, model.request, if: model.mayBeClosedUnread)
    }

    /// Trailers pass to clients that accept them, without those that route or frame a message.
    private func checkTrailers(_ model: StreamModel, _ origin: StreamAttempt) {
        let accepts = model.request.request.header("TE") != nil
        let hasBody = origin.script.sendsBody(to: origin.head)
        let sent = hasBody && accepts ? origin.script.body.trailers : []
        let expected = sent.filter { $0.name == "X-Trailer" }.map(\.value)
        let received = model.stream.trailers
        if received.map(\.value) != expected || received.contains(where: { $0.name != "X-Trailer" })
        {
            add(model, "the trailers are \(received), expected \(expected)")
        }
    }

    private func checkTunnel(_ model: StreamModel, _ origin: StreamAttempt) {
        if model.loggedOutcome == "ok", model.loggedEnd == nil {
            if !origin.isSentWhole, !mayBeCutOff(model) {
                add(model, "the tunnel ended well, and its host had not ended it")
            } else if model.stream.disconnected == nil, model.stream.hasEndedTunnel,
                model.stream.isComplete, model.stream.received != origin.sent,
                !mayBeCutOff(model), !mayBeClosedUnread(model)
            {
                add(
                    model,
                    "the client got \(model.stream.received) bytes of the tunnel, of \(origin.sent)"
                )
            }
        }
        // The host has seen the end of the client before it had ended its own direction. A client that
        // closes its connection looks the same until something is sent to it.
        guard origin.sawTunnelEnd, model.loggedEnd == nil, !mayBeCutOff(model),
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
