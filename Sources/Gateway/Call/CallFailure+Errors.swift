import HTTPClient
import JSONText
import Promises

extension CallFailure {
    /// The failure that an error of a call's chain stands for.
    init(_ error: any Error) {
        switch error {
        case let failure as CallFailure: self = failure
        case let failure as ClientFailure: self.init(failure)
        case let cancelled as Cancelled:
            // A call that its own timeout gave up was slow; any other cancellation is ours.
            self = (cancelled.cause as? CallFailure) ?? CallFailure(kind: .cancelled)
        case is InvalidShape: self.init(kind: .invalidShape)
        default: self.init(kind: .cancelled, detail: "\(error)")
        }
    }

    private init(_ failure: ClientFailure) {
        let kind: Kind =
            switch failure.kind {
            case .dnsError: .dnsError
            case .connectionRefused: .connectionRefused
            case .connectionTimeout: .connectionTimeout
            case .connectionTerminated: .connectionTerminated
            case .certificateError: .tlsCertificateError
            case .responseIncomplete: .responseIncomplete
            case .responseBodySize: .responseBodySize
            case .protocolError: .protocolError
            // Ours, and over in a moment, as a full line is.
            case .noRoom: .queueFull
            case .connectionLimit: .connectionLimitReached
            }
        self.init(kind: kind, detail: failure.detail)
        if failure.isLocal { retryAfter = 1 }
        switch failure.cause {
        case .limit(let milliseconds) where kind != .responseBodySize:
            limit = .milliseconds(milliseconds)
        case .limit, .network, .wire, .ended, .unasked, .noAddress, .poolClosed, .memory: break
        }
    }
}
