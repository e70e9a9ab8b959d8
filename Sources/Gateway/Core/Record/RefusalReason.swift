import Basics
package import HTTP

/// Why the gateway refused a request without a look at its contents: the member `reason` of the
/// problem, a field of the access log, and the label of a metric.
package enum RefusalReason: UInt8, Sendable, CaseIterable {
    /// The client's address is denied, or not among those that are allowed.
    case address
    /// The request is for a host that the gateway does not serve.
    case host
    /// The request has no credential of a kind that its endpoint accepts.
    case missing
    /// The credential cannot be read.
    case malformed
    /// The credential is not one that the gateway accepts.
    case untrusted
    /// The credential was valid.
    case expired
    /// The credential will be valid.
    case notYetValid
    /// The caller lacks a scope.
    case scope
    /// What the credential states about the caller does not meet the endpoint's conditions.
    case claims
    /// Too many requests.
    case quota
    /// The keys that are needed to decide are not available.
    case keysUnavailable
    /// The store that decides about a limit is not available.
    case limitsUnavailable
    /// The body has a media type that the endpoint does not accept.
    case contentType
    /// The client's `User-Agent` is denied.
    case userAgent
    /// Servers read the path in different ways.
    case path
    /// The request has passed this gateway before.
    case loop

    /// In the order of `rawValue`.
    package var name: StaticString {
        switch self {
        case .address: "address"
        case .host: "host"
        case .missing: "missing"
        case .malformed: "malformed"
        case .untrusted: "untrusted"
        case .expired: "expired"
        case .notYetValid: "not_yet_valid"
        case .scope: "scope"
        case .claims: "claims"
        case .quota: "quota"
        case .keysUnavailable: "keys_unavailable"
        case .limitsUnavailable: "limits_unavailable"
        case .contentType: "content_type"
        case .userAgent: "user_agent"
        case .path: "path"
        case .loop: "loop"
        }
    }

    /// Whether it is a decision of an authenticator about a credential.
    package var concernsCredential: Bool {
        switch self {
        case .missing, .malformed, .untrusted, .expired, .notYetValid, .scope, .claims,
            .keysUnavailable:
            true
        case .address, .host, .quota, .limitsUnavailable, .contentType, .userAgent, .path, .loop:
            false
        }
    }

    package var status: Status {
        switch self {
        case .address, .scope, .claims: .forbidden
        case .host: .misdirectedRequest
        case .missing, .malformed, .untrusted, .expired, .notYetValid: .unauthorized
        case .quota: .tooManyRequests
        case .keysUnavailable, .limitsUnavailable: .serviceUnavailable
        case .contentType: .unsupportedMediaType
        case .userAgent: .forbidden
        case .path: .badRequest
        case .loop: .loopDetected
        }
    }
}

extension Problem {
    /// A problem with the member `reason`.
    ///
    /// - Parameter status: nil for the status of the reason
    package init(
        _ reason: RefusalReason, status: Status? = nil, type: StaticString = "about:blank",
        instance: RequestID
    ) {
        var json: [UInt8] = []
        json.append(UInt8(ascii: "\""))
        json.append(literal: reason.name)
        json.append(UInt8(ascii: "\""))
        self = Problem(status ?? reason.status, type: type, instance: instance)
            .with("reason", json: Bytes(json))
    }
}
