import Assembly
import HTTP
import Rehearsal
import SimReactor

/// The log line and the record of a stream agree with what happened to it.
struct StreamLogCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for model in models {
            guard let origin = model.origin else { continue }
            guard let line = model.line else {
                violations.add(.log, model.mark, "a stream without a line")
                continue
            }
            check(model, origin, line)
        }
    }

    private func check(_ model: StreamModel, _ origin: StreamAttempt, _ line: Tree) {
        for fault in [
            end(model, origin), bytesOut(model, origin, line), bytesIn(model, origin, line),
            outcome(model, line),
        ].compactMap({ $0 }) { violations.add(.log, model.mark, fault) }
    }

    /// Whether the logged reason has a cause.
    private func end(_ model: StreamModel, _ origin: StreamAttempt) -> String? {
        let hasCause: Bool
        switch model.loggedEnd {
        case nil: return nil
        case "backend_truncated": hasCause = !origin.isSentWhole || origin.script.isLost
        case "client_disconnected":
            hasCause =
                model.stream.left != nil || record.mayLackRoom || model.mayBeCutOff
                || model.stream.script.isBroken
        case "client_too_slow":
            // A reload changes `write_timeout` for open connections, too.
            hasCause =
                record.mayLackRoom
                || record.configs.contains { $0.limits.writeTimeout != nil }
        case "cut_off": hasCause = model.mayBeCutOff
        case "request_broken": hasCause = model.isRequestBroken
        case "memory_limit": hasCause = record.mayLackRoom
        // `StreamTimesCheck` checks the moment.
        case "idle": hasCause = true
        case "max_duration": hasCause = model.proxy?.maxDuration != nil
        default: hasCause = false
        }
        return hasCause ? nil : "the end '\(model.loggedEnd ?? "")' has no cause"
    }

    private func bytesOut(_ model: StreamModel, _ origin: StreamAttempt, _ line: Tree) -> String? {
        let logged = line["bytes_out"]?.integer ?? -1
        let isFitting =
            model.stream.isComplete && origin.script.upgrade == nil
            ? logged == model.stream.received
            : logged >= model.stream.received - framingMax(model) && logged <= origin.sent
        return isFitting
            ? nil
            : "\(logged) bytes_out, the client got \(model.stream.received) of \(origin.sent)"
    }

    /// The most bytes of chunk framing among those that the gateway keeps for the client. It counts all of
    /// them as bytes of the body.
    private func framingMax(_ model: StreamModel) -> Int {
        model.request.response?["Transfer-Encoding"] == nil
            ? 0 : model.stream.fromGateway.unsentMax
    }

    private func bytesIn(_ model: StreamModel, _ origin: StreamAttempt, _ line: Tree) -> String? {
        let logged = line["bytes_in"]?.integer ?? -1
        if origin.script.upgrade != nil { return nil }
        let isFitting =
            origin.isRequestComplete
            ? logged == model.stream.sent : logged >= origin.received && logged <= model.stream.sent
        return isFitting
            ? nil
            : "\(logged) bytes_in, the client sent \(model.stream.sent), the host got \(origin.received)"
    }

    private func outcome(_ model: StreamModel, _ line: Tree) -> String? {
        let outcome = model.loggedOutcome ?? "none"
        if let recorded = model.recorded, "\(recorded.outcome.name)" != outcome {
            return "logged as \(outcome), recorded as \(recorded.outcome.name)"
        }
        // A client that leaves is no failure.
        let early = model.loggedEnd == "client_disconnected" ? "client_gone" : "truncated"
        if model.loggedEnd != nil, outcome != early { return "ended early, and \(outcome)" }
        if outcome == "truncated", model.stream.isComplete, model.origin?.script.upgrade == nil {
            return "truncated, and the client had all of it"
        }
        return nil
    }
}

extension StreamResponseScript {
    /// The end of the connection may come before the gateway has read all of a response.
    fileprivate var isLost: Bool { body.ending != .complete }
}

extension StreamModel {
    /// Whether the body of the request is malformed, or larger than the gateway may pass on.
    fileprivate var isRequestBroken: Bool {
        if case .malformed = stream.script.upload.ending { return true }
        return proxy?.maxBody.map { stream.sent > $0 } ?? false
    }
}

extension StreamScript {
    /// The request breaks off, or is malformed.
    var isBroken: Bool { upload.ending != .complete }
}
