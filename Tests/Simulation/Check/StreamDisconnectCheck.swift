import Basics
import Rehearsal
import SimReactor

/// When a client has left, the connection to the host of its request is closed as soon as the gateway can
/// notice it.
struct StreamDisconnectCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for model in models {
            for attempt in model.attempts { check(attempt, model) }
        }
    }

    private func check(_ attempt: StreamAttempt, _ model: StreamModel) {
        guard let left = left(attempt, model) else { return }
        let latency = record.network.longestLatency
        let slack = latency * 4 + Self.limit
        let noticed = max(left, attempt.sentAt) + slack
        guard !model.mayMissTheEnd(until: noticed) else { return }
        // What was sent before must be read before the end arrives: with small windows, a round trip later.
        let lastRead = max(left, attempt.sentAt) + latency * 2 + Self.limit
        guard model.stream.toGateway.read(until: lastRead) == model.stream.toGateway.written else {
            return
        }
        if let ended = attempt.ended, ended <= noticed { return }
        guard record.ended > noticed else { return }
        violations.add(
            .cancellation, model.mark,
            "attempt \(attempt.key.ordinal) still ran \(slack) after its client had left")
    }

    private static let limit = Duration.milliseconds(50)

    /// A client that has only ended its own direction counts as gone once its response is streamed.
    private func left(_ attempt: StreamAttempt, _ model: StreamModel) -> Instant? {
        if let disconnected = model.stream.disconnected, !model.isOver(before: disconnected) {
            return disconnected
        }
        guard let halfClosed = model.stream.halfClosed, attempt.script.upgrade == nil,
            let responded = model.request.responded, model.origin != nil
        else { return nil }
        let gone = max(halfClosed, responded)
        return model.isOver(before: gone) ? nil : gone
    }
}

extension StreamModel {
    /// Whether the client had the whole response.
    fileprivate func isOver(before moment: Instant) -> Bool {
        request.received.map { $0 <= moment } ?? false
    }

    /// The gateway stops reading from the client when a host leaves so much of the body unread.
    private static let unsentBytesMax = 64 * 1024

    /// The gateway does not read from the client while a host does not read, so it cannot notice its end.
    fileprivate func mayMissTheEnd(until moment: Instant) -> Bool {
        attempts.contains { attempt in
            guard !attempt.script.reading.pauses.isEmpty else { return false }
            guard attempt.script.upgrade != nil else { return !attempt.isRequestComplete }
            return attempt.fromGateway.unsentMax >= Self.unsentBytesMax
                && attempt.fromGateway.read(until: moment) < attempt.fromGateway.written
        }
    }
}
