import HTTP
import HTTPClient

/// What an attempt shows about its backend.
package enum AttemptSample {
    case success, failure
    /// Nothing: it was cancelled, or it was refused or failed on this side.
    case none
}

/// What the outcome of an attempt shows about its backend: the one rule of circuit breakers and of the
/// ejection of hosts.
extension AttemptRecord {
    var sample: AttemptSample {
        // The gateway refused it, or it ended in the queue: the backend knows nothing of it.
        guard permitted.hasHappened else { return .none }
        switch outcome {
        case .answered: return .init(status: status)
        case .failed(let kind): return .init(kind)
        case .none, .withdrawn: return .none
        }
    }

    /// The same after the request, when the content of a complete response may have been refused.
    package var finalSample: AttemptSample {
        lastByte.hasHappened ? .init(status: status) : sample
    }
}

extension RequestRecord {
    /// What an attempt shows, or the last one that replaced it on another host.
    func sample(of attempt: Int) -> AttemptSample {
        lastAttempt(replacing: attempt)?.sample ?? .none
    }
}

extension AttemptSample {
    /// A complete response: 5xx is a failure, other statuses are not.
    init(status: UInt16) { self = status >= 500 ? .failure : .success }

    /// The table of failures decides.
    init(_ kind: CallFailureKind) { self = kind.facts.countsForBreaker ? .failure : .none }
}
