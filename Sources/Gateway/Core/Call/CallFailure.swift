import Basics
package import HTTP
package import HTTPClient
import JSONText
import Promises

/// Why a call has no part. Each case carries only its own data; the properties of a kind of failure
/// are in the table (`CallFailure+Facts.swift`), the facts of the failed call in `FailedCall`.
package enum CallFailure: Error {
    /// The connection to the backend gave no response.
    case connection(ClientFailure)
    /// No complete response within the call's limit.
    case responseTimeout(limit: Duration)
    /// No host of the backend is available.
    case destinationUnavailable
    /// A status that `accept` does not list.
    ///
    /// - `retryAfter`: the seconds that the backend stated
    /// - `response`: the response itself, where the call relays its body
    case unexpectedStatus(Status, retryAfter: Int?, response: RelayableResponse?)
    /// The body has a content coding, such as gzip: the value of `Content-Encoding`.
    case contentCoding(FieldValue)
    /// The body is not JSON; the text of the error.
    case invalidJSON(String)
    /// The JSON does not have the shape that the call takes.
    case invalidShape
    /// Another call's value already has this key.
    case collision(key: String)
    /// The list has more elements than `max`.
    case tooManyElements
    /// Elements of the list were left out. Only in reports.
    case truncated
    /// The breaker is open, for so many more seconds.
    case breakerOpen(retryAfter: Int)
    case queueFull
    /// The request could not be built.
    case skipped(SkipReason)
    /// The gateway cancelled the call.
    case cancelled
    /// An internal error, which is reported as a cancellation.
    case internalError(any Error)

    /// Why the request of a call could not be built.
    package enum SkipReason: Sendable, Equatable {
        /// The value of this call was missing.
        case call(String)
        /// The client did not send this value: `request.header.Name`, `request.body.field` or
        /// `params.name`.
        case client(String)
        /// The client's token does not have this claim: `token.sub`.
        case claim(String)
        /// The element of a list does not have this value: `order.sku`.
        case element(String)
        /// The values cannot be sent, for the reason in this text.
        case unusable(String)
    }
}

/// A call that failed: the error of its promise.
struct FailedCall: Error {
    let failure: CallFailure
    /// The index of the call in its endpoint.
    let call: Int
    /// The host that the call was sent to last, with its port; known only where the endpoint
    /// exposes details.
    let host: FieldValue?
    /// Of a list, the elements that failed; nil for a call without one.
    var elements: FailedElements?
}

extension CallFailure {
    var kind: Kind {
        switch self {
        case .connection(let failure): Kind(failure.kind)
        case .responseTimeout: .responseTimeout
        case .destinationUnavailable: .destinationUnavailable
        case .unexpectedStatus: .unexpectedStatus
        case .contentCoding: .responseContentCoding
        case .invalidJSON: .invalidJSON
        case .invalidShape: .invalidShape
        case .collision: .collision
        case .tooManyElements: .tooManyElements
        case .truncated: .truncated
        case .breakerOpen: .breakerOpen
        case .queueFull: .queueFull
        case .skipped: .skipped
        case .cancelled, .internalError: .cancelled
        }
    }

    /// Maps an error of a call's chain to a failure.
    init(_ error: any Error) {
        switch error {
        case let failure as CallFailure: self = failure
        case let failed as FailedCall: self = failed.failure
        case let failure as ClientFailure: self = .connection(failure)
        case let cancelled as Cancelled:
            // A `CallFailure` as cause is the call's own timeout; any other cancellation comes from
            // the gateway.
            self = (cancelled.cause as? CallFailure) ?? .cancelled
        case is InvalidShape: self = .invalidShape
        default: self = .internalError(error)
        }
    }
}

// The properties of a failure that reports and the status table use.
extension CallFailure {
    /// The backend's status.
    var status: Status? {
        if case .unexpectedStatus(let status, _, _) = self { status } else { nil }
    }

    /// The response itself, where the call relays its body.
    var response: RelayableResponse? {
        if case .unexpectedStatus(_, _, let response) = self { response } else { nil }
    }

    /// The limit that was exceeded.
    var limit: Duration? {
        switch self {
        case .responseTimeout(let limit): limit
        case .connection(let failure): failure.timeLimit
        default: nil
        }
    }

    /// The name of the value that was missing: a call's, or one that the client did not send.
    var missingValue: String? {
        switch self {
        case .skipped(.call(let name)), .skipped(.client(let name)), .skipped(.claim(let name)),
            .skipped(.element(let name)):
            name
        default: nil
        }
    }

    /// Whether the client did not send a value that the call uses.
    var isClientError: Bool { if case .skipped(.client) = self { true } else { false } }

    /// Whether the client's token lacks a claim that the call uses.
    var isMissingClaim: Bool { if case .skipped(.claim) = self { true } else { false } }

    /// The key that another call's value has.
    var key: String? { if case .collision(let key) = self { key } else { nil } }

    /// The text of the error; shown only where the endpoint exposes details.
    var detail: String? {
        switch self {
        case .connection(let failure): failure.detail
        case .contentCoding(let coding): "Content-Encoding: \(coding)"
        case .invalidJSON(let text), .skipped(.unusable(let text)): text
        case .internalError(let error): "\(error)"
        default: nil
        }
    }

    /// The text of an error that no attempt has recorded: the connection records its own.
    var ownDetail: String? { if case .connection = self { nil } else { detail } }

    /// After how many seconds the client may try again.
    var retryAfter: Int? {
        switch self {
        case .unexpectedStatus(_, let seconds, _): seconds
        case .breakerOpen(let seconds): seconds
        default: kind.facts.group == .refused ? 1 : nil
        }
    }
}

extension ClientFailure {
    /// The time that was exceeded.
    fileprivate var timeLimit: Duration? {
        guard kind != .responseBodySize, case .limit(let milliseconds) = cause else { return nil }
        return .milliseconds(milliseconds)
    }
}
