import Rehearsal

/// The bytes that each side of a stream received are those that the other side sent, in their order.
struct StreamBytesCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for model in models {
            checkUpload(model)
            checkDownload(model)
        }
    }

    private func add(_ model: StreamModel, _ text: String) {
        violations.add(.streams, model.mark, text)
    }

    private func checkUpload(_ model: StreamModel) {
        for attempt in model.attempts {
            if let position = attempt.difference {
                add(model, "byte \(position) of the request's body is not the one that was sent")
            }
            let uploaded = model.uploaded(to: attempt)
            if attempt.received > uploaded {
                add(model, "a host got \(attempt.received) bytes, of \(uploaded) sent")
            }
            guard attempt.isRequestComplete, attempt.script.upgrade == nil else { continue }
            if !model.stream.isSentWhole || attempt.received != uploaded {
                add(
                    model,
                    "a host got a complete request with \(attempt.received) bytes, although only"
                        + " \(uploaded) were sent, complete: \(model.stream.isSentWhole)")
            }
        }
    }

    private func checkDownload(_ model: StreamModel) {
        if let position = model.stream.difference {
            add(model, "byte \(position) of the response's body is not the one that was sent")
        }
        guard let origin = model.origin else { return }
        if model.stream.received > origin.sent {
            add(model, "the client got \(model.stream.received) bytes, of \(origin.sent) sent")
        }
    }
}

extension StreamModel {
    /// Bytes of the request's body, or of the client's side of a tunnel, that were sent.
    func uploaded(to attempt: StreamAttempt) -> Int {
        attempt.script.upgrade == nil ? stream.sent : stream.sentInTunnel
    }
}
