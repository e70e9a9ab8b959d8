import Basics
import Gateway
import HTTP

/// `log.only`: which requests get a line. A line is written where one of the conditions holds; every
/// request gets one where there are none.
struct AccessLogFilter {
    private var outcomes: [Bool]
    private var slow: Duration?
    /// In millionths.
    private var share = 0
    private let isEverything: Bool

    init(_ conditions: [Config.Log.Condition]) {
        isEverything = conditions.isEmpty
        outcomes = Array(repeating: false, count: RequestOutcome.allCases.count)
        for condition in conditions {
            switch condition {
            case .failed: include(.failed, .truncated, .cutOff)
            case .partial: include(.partial)
            case .rejected: include(.rejected)
            case .slow(let limit): slow = min(limit, slow ?? limit)
            case .share(let millionths): share = max(share, millionths)
            }
        }
    }

    private mutating func include(_ included: RequestOutcome...) {
        for outcome in included { outcomes[Int(outcome.rawValue)] = true }
    }

    func accepts(
        _ outcome: RequestOutcome, after duration: Duration, _ entropy: Entropy
    ) -> Bool {
        if isEverything || outcomes[Int(outcome.rawValue)] { return true }
        if let slow, duration > slow { return true }
        return share > 0 && entropy.below(1_000_000) < share
    }

    /// Whether something gets a line that was refused before it was a request.
    func acceptsRefusals(_ status: Status) -> Bool {
        isEverything
            || outcomes[Int((status.code >= 500 ? RequestOutcome.failed : .rejected).rawValue)]
    }
}
