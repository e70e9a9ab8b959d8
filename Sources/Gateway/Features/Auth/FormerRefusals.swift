import HTTP

/// The refusals of the authenticators that were tried so far.
struct FormerRefusals {
    /// The one with the most specific reason.
    private(set) var worst: AttributedRefusal?
    /// The authenticators whose refusal is a failure, as bits. Those from the 65th are not counted,
    /// nor are certificates.
    private(set) var failed: UInt64 = 0
    /// The other ones that refused.
    private(set) var undecided: UInt64 = 0

    /// - Parameter isGuess: its credential can be guessed
    mutating func add(_ refused: AttributedRefusal, isGuess: Bool = true) {
        if isGuess, refused.refusal.reason.countsAsFailure {
            failed |= 1 << refused.authenticator
        } else {
            undecided |= 1 << refused.authenticator
        }
        if let worst, worst.refusal.reason.rank >= refused.refusal.reason.rank { return }
        worst = refused
    }

    mutating func add(_ refusal: AuthRefusal, of authenticator: Int, isGuess: Bool = true) {
        add(AttributedRefusal(refusal: refusal, authenticator: authenticator), isGuess: isGuess)
    }
}

extension RefusalReason {
    /// Whether the credential counts for `auth_failures`. A missing one, and one that was valid, is
    /// not an attempt to guess one.
    var countsAsFailure: Bool { self == .malformed || self == .untrusted }

    /// Which of several reasons for one credential is reported: an authenticator that could not
    /// decide might have accepted it, and an expired credential was valid, unlike an untrusted one.
    fileprivate var rank: Int {
        switch self {
        case .keysUnavailable, .quota: 3
        case .expired, .notYetValid: 2
        case .untrusted: 1
        default: 0
        }
    }
}
