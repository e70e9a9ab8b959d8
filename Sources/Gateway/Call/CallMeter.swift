import Basics

/// How the calls to one backend ended, on one core. Plain numbers: whoever wants them asks the core.
final class CallMeter {
    private(set) var succeeded = 0
    private var failed: [Int] = Array(repeating: 0, count: CallFailure.Kind.allCases.count)

    func countSuccess() { succeeded += 1 }

    func count(_ failure: CallFailure) { failed[failure.kind.ordinal] += 1 }

    /// The outcomes that happened, in a fixed order, with the names that reports use.
    var outcomes: [(name: String, count: Int)] {
        [("ok", succeeded)]
            + CallFailure.Kind.allCases.map { ($0.rawValue, failed[$0.ordinal]) }
            .filter { $0.1 > 0 }
    }
}

extension CallFailure.Kind {
    /// Its place among all kinds.
    fileprivate var ordinal: Int {
        Self.allCases.firstIndex(of: self) ?? 0
    }
}
