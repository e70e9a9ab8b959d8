/// Who found something wrong.
package enum Checker: String, CaseIterable, Sendable {
    /// What came to a peer was no HTTP, or nothing that it asked for.
    case peers
    /// Exactly one answer to each request, or a closed connection.
    case answers
    /// Bytes of an answer belong to its request.
    case marks
    /// The status is that of the outcome table.
    case status
    /// Body and head of an answer are what the configuration says.
    case contents
    /// Nothing too early, nothing too late.
    case times
    /// What nobody waits for is given up.
    case cancellation
    /// Bulkhead, breaker, retries, requests in flight.
    case limits
    /// What a backend is sent.
    case calls
    /// Who is asked: no host that is left out; and how hosts are asked how they are.
    case hosts
    /// One line for each request.
    case log
    /// Nothing is left at the end.
    case leftovers
    /// The same seed gives the same run.
    case trace
    /// The drawn configuration is one.
    case configuration
}

/// Something that must not be.
package struct Violation: Sendable, CustomStringConvertible {
    package let checker: Checker
    /// The mark of the request that it is about.
    package let mark: String?
    package let text: String

    init(checker: Checker, mark: String?, text: String) {
        self.checker = checker
        self.mark = mark
        self.text = text
    }

    /// A violation by a request that the caller knows.
    init(_ checker: Checker, _ text: String) {
        self.init(checker: checker, mark: nil, text: text)
    }

    package var description: String {
        "\(checker)\(mark.map { " \($0)" } ?? ""): \(text)"
    }
}

/// Collects what the checkers find in one record.
final class ViolationLog {
    private(set) var all: [Violation] = []

    func add(_ checker: Checker, _ mark: String?, _ text: String) {
        all.append(Violation(checker: checker, mark: mark, text: text))
    }
}
