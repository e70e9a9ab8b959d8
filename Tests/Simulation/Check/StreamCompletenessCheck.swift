import Rehearsal

/// A response that looks complete to its client was complete; and a complete response arrives completely,
/// unless something ended it that the log names.
struct StreamCompletenessCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for model in models {
            guard let origin = model.origin, origin.script.upgrade == nil else { continue }
            check(model, origin)
        }
    }

    private func check(_ model: StreamModel, _ origin: StreamAttempt) {
        if model.stream.isComplete {
            checkComplete(model, origin)
        } else if model.stream.left == nil, model.loggedEnd == nil, !model.mayBeCutOff,
            !model.stream.script.reading.neverEnds, !model.mayBeClosedUnread
        {
            violations.add(
                .streams, model.mark,
                "the response broke off after \(model.stream.received) bytes, and the log has no end"
            )
        }
    }

    private func checkComplete(_ model: StreamModel, _ origin: StreamAttempt) {
        let isWhole = origin.isSentWhole && model.stream.received == origin.sent
        if !isWhole {
            violations.add(
                .streams, model.mark,
                "the response looked complete with \(model.stream.received) bytes, the host sent"
                    + " \(origin.sent), complete: \(origin.isSentWhole)")
        }
        checkTrailers(model, origin)
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
            violations.add(
                .streams, model.mark, "the trailers are \(received), expected \(expected)")
        }
    }
}
