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
            for fault in [end(model, origin), bytes(model, origin, line)].compactMap({ $0 }) {
                violations.add(.log, model.mark, fault)
            }
        }
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
        case "memory_limit":
            hasCause = record.excuses.add(.memory, model.request, if: record.mayLackRoom)
        // `StreamTimesCheck` checks the moment.
        case "idle": hasCause = true
        case "max_duration": hasCause = model.proxy?.maxDuration != nil
        default: hasCause = false
        }
        return hasCause ? nil : "the end '\(model.loggedEnd ?? "")' has no cause"
    }

    /// Of a complete response, or a complete request: what arrived.
    private func bytes(_ model: StreamModel, _ origin: StreamAttempt, _ line: Tree) -> String? {
        guard origin.script.upgrade == nil else { return nil }
        let (out, into) = (line["bytes_out"]?.integer ?? -1, line["bytes_in"]?.integer ?? -1)
        if model.stream.isComplete, out != model.stream.received {
            return "\(out) bytes_out, the client got \(model.stream.received)"
        }
        if origin.isRequestComplete, into != model.stream.sent {
            return "\(into) bytes_in, the client sent \(model.stream.sent)"
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
