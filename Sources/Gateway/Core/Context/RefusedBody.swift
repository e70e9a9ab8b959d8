import HTTP
import Promises

/// Replaces a body that an endpoint cannot get, because it is too large or malformed, or because
/// the request limit is reached.
///
/// The chain of the endpoint passes the reason on like a body, so that the rejection is a response
/// of the endpoint: padded, counted and logged like its others.
final class RefusedBody: BodySource {
    enum Reason {
        case tooLarge(BodyTooLarge)
        case malformed(WireError)
        case overloaded(RequestLimitReached)

        var error: any Error {
            switch self {
            case .tooLarge(let error): error
            case .malformed(let error): error
            case .overloaded(let error): error
            }
        }
    }

    let reason: Reason
    private let local: LocalContext
    private var isCancelled = false

    /// - Parameter error: why the body could not be collected; nil is returned for other reasons
    init?(_ error: any Error, on local: LocalContext) {
        switch error {
        case let error as BodyTooLarge: reason = .tooLarge(error)
        case let error as WireError: reason = .malformed(error)
        case let error as RequestLimitReached: reason = .overloaded(error)
        default: return nil
        }
        self.local = local
    }

    var framing: BodyFraming { .none }

    func startDelivery(to sink: any BodySink) {
        local.value(()).whenSettled { [self] _ in
            if !isCancelled { sink.bodyFailed(reason.error) }
        }
    }

    func pause() {}

    func resume() {}

    func cancel() {
        isCancelled = true
    }
}
