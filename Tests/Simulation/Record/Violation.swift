/// The rule that a run violates; reports print its name.
package enum Checker: String, CaseIterable, Sendable {
    /// A peer received malformed HTTP, or a message that it did not request.
    case peers
    /// Exactly one response to each request, or a closed connection.
    case responses
    /// The bytes of a response belong to its request.
    case marks
    /// The status is that of the outcome table.
    case status
    /// Head and body of a response are as configured.
    case contents
    /// Every response has the configured security, fixed and CORS headers; refusals have a reason.
    case headers
    /// Only requests of authenticated callers reach a backend of a protected endpoint.
    case auth
    /// No response is early or late.
    case times
    /// Calls that are not needed any more are cancelled.
    case cancellation
    /// A call is made no more often than its `retry` and `hedge` allow.
    case limits
    /// Requests to backends are as configured.
    case calls
    /// Health checks are as configured.
    case hosts
    /// Rate limits grant what they may, and refuse nothing else.
    case quota
    /// Tokens are accepted and refused as configured, and keys are fetched seldom enough.
    case tokens
    /// Bodies of endpoints with `proxy` arrive as they were sent, and look complete only if they are.
    case streams
    /// Handshakes succeed as configured and in time; listeners serve what they are for.
    case handshakes
    /// One log line per request.
    case log
    /// The record of a request agrees with what happened, and its times add up.
    case record
    /// Nothing is left at the end.
    case leftovers
    /// The same seed gives the same run.
    case trace
    /// A limit that replicas share holds, and its store delays no request longer than its timeout.
    case store
    /// The drawn configuration is valid.
    case configuration
}

/// A breach of a rule in a run.
package struct Violation: Sendable, CustomStringConvertible {
    package let checker: Checker
    /// The mark of the request concerned.
    package let mark: String?
    package let text: String

    init(checker: Checker, mark: String?, text: String) {
        self.checker = checker
        self.mark = mark
        self.text = text
    }

    /// A violation whose request the caller adds.
    init(_ checker: Checker, _ text: String) {
        self.init(checker: checker, mark: nil, text: text)
    }

    package var description: String {
        "\(checker)\(mark.map { " \($0)" } ?? ""): \(text)"
    }
}

/// Collects the violations in one record.
final class ViolationLog {
    private(set) var all: [Violation] = []

    func add(_ checker: Checker, _ mark: String?, _ text: String) {
        all.append(Violation(checker: checker, mark: mark, text: text))
    }
}
