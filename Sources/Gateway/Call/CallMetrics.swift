import Basics
import HTTP

/// Counts how the calls to one backend ended, on one worker, and confined to it.
final class CallMetrics {
    private(set) var succeeded = 0
    private var failed: [Int] = Array(repeating: 0, count: CallFailure.Kind.allCases.count)

    func countSuccess() { succeeded += 1 }

    func countFailure(_ kind: CallFailure.Kind) { failed[Int(kind.rawValue)] += 1 }

    /// The outcomes with a count, in a fixed order, by the names that reports use.
    var outcomes: [(name: String, count: Int)] {
        [("ok", succeeded)]
            + CallFailure.Kind.allCases.map { ($0.facts.name, failed[Int($0.rawValue)]) }
            .filter { $0.1 > 0 }
    }
}
