import HTTP

/// The decisions of an authenticator on one worker.
final class AuthCounts {
    private(set) var accepted = 0
    /// By `rawValue`.
    private var refused = [Int](repeating: 0, count: RefusalReason.allCases.count)

    func countAccepted() { accepted &+= 1 }
    func count(_ reason: RefusalReason) { refused[Int(reason.rawValue)] &+= 1 }

    /// The counts as a value that other threads can read.
    func results(of name: String, keysAge: Int64? = nil) -> AuthResults {
        AuthResults(
            name: name, accepted: accepted, refused: refused.map { $0 }, keysAge: keysAge)
    }
}

/// The decisions of an authenticator, for the metrics.
package struct AuthResults: Sendable {
    package let name: String
    package private(set) var accepted: Int
    private var refused: [Int]
    /// The age of the keys of an issuer in seconds, on the worker with the oldest ones; nil for other
    /// authenticators, and before the first fetch.
    package private(set) var keysAge: Int64?

    /// The reasons for which authenticators refuse requests.
    package static let reasons = RefusalReason.allCases.filter {
        $0.concernsCredential || $0 == .quota
    }

    fileprivate init(name: String, accepted: Int, refused: [Int], keysAge: Int64?) {
        self.keysAge = keysAge
        self.name = name
        self.accepted = accepted
        self.refused = refused
    }

    /// Without a decision.
    package init(name: String, keysAge: Int64? = nil) {
        self = AuthCounts().results(of: name, keysAge: keysAge)
    }

    package subscript(reason: RefusalReason) -> Int { refused[Int(reason.rawValue)] }

    /// A copy without the gauge, for a worker that does not respond any more.
    package var countersOnly: AuthResults {
        var results = self
        results.keysAge = nil
        return results
    }

    /// Adds the decisions of another worker.
    package mutating func add(_ other: AuthResults) {
        keysAge = [keysAge, other.keysAge].compactMap { $0 }.max()
        accepted &+= other.accepted
        for index in refused.indices { refused[index] &+= other.refused[index] }
    }
}
