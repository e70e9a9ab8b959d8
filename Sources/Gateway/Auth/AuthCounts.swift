package import HTTP

/// The decisions of an authenticator on one worker.
final class AuthCounts {
    private(set) var accepted = 0
    /// By `rawValue`.
    private var refused = [Int](repeating: 0, count: RefusalReason.allCases.count)

    func countAccepted() { accepted &+= 1 }
    func count(_ reason: RefusalReason) { refused[Int(reason.rawValue)] &+= 1 }

    /// A copy as a value.
    func results(of name: String) -> AuthResults {
        AuthResults(name: name, accepted: accepted, refused: refused.map { $0 })
    }
}

/// The decisions of an authenticator, for the metrics.
package struct AuthResults: Sendable {
    package let name: String
    package private(set) var accepted: Int
    private var refused: [Int]

    /// The reasons for which authenticators refuse requests.
    package static let reasons = RefusalReason.allCases.filter {
        $0.concernsCredential || $0 == .quota
    }

    fileprivate init(name: String, accepted: Int, refused: [Int]) {
        self.name = name
        self.accepted = accepted
        self.refused = refused
    }

    /// Without a decision.
    package init(name: String) {
        self = AuthCounts().results(of: name)
    }

    package subscript(reason: RefusalReason) -> Int { refused[Int(reason.rawValue)] }

    /// Adds the decisions of another worker.
    package mutating func add(_ other: AuthResults) {
        accepted &+= other.accepted
        for index in refused.indices { refused[index] &+= other.refused[index] }
    }
}
