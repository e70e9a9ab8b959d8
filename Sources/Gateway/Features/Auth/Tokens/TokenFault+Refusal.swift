import HTTP
import JOSE

extension AuthRefusal {
    init(_ fault: TokenFault) {
        self.init(fault.reason, cause: fault.cause)
    }
}

extension TokenFault {
    /// The reason in the response.
    fileprivate var reason: RefusalReason {
        switch self {
        case .malformed: .malformed
        case .untrusted: .untrusted
        case .expired: .expired
        case .notYetValid: .notYetValid
        }
    }

    /// Nil where the reason says it all.
    fileprivate var cause: RefusalCause? {
        switch self {
        case .malformed(let malformation): malformation.cause
        case .untrusted(let distrust): distrust.cause
        case .expired, .notYetValid: nil
        }
    }
}

extension TokenFault.Malformation {
    fileprivate var cause: RefusalCause {
        switch self {
        case .tooLong: .tooLong
        case .encrypted: .encrypted
        case .notThreeParts: .notThreeParts
        case .encoding: .encoding
        case .notObject: .notObject
        case .duplicateName: .duplicateName
        case .parameter: .headerParameter
        case .claim: .claimType
        }
    }
}

extension TokenFault.Distrust {
    fileprivate var cause: RefusalCause {
        switch self {
        case .critical: .critical
        case .type: .type
        case .algorithm: .algorithm
        case .unknownKey: .unknownKey
        case .keyDoesNotFit: .keyDoesNotFit
        case .severalKeys: .severalKeys
        case .signature: .signature
        case .issuer: .issuer
        case .audience: .audience
        case .noExpiry: .noExpiry
        }
    }
}
