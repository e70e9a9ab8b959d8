/// Outcomes that the calls of few requests have: of lists, and of parts that cannot be placed.
///
/// One object, so that a request without them has one reference more and not several.
final class RareOutcomes {
    /// By call: the values of the elements of its list.
    var lists: [Int: [ListValue]] = [:]
    /// Calls of which some elements failed, and lists that were truncated.
    var partialFailures: [FailedCall] = []
    /// By call: the elements of a list whose values cannot be placed.
    var misplacedElements: [Int: FailedCall] = [:]
    /// Of a response that is sent part by part, the failures of calls whose parts cannot be placed: the values of
    /// these calls stay, because others may still use them.
    var misplaced: [FailedCall] = []
}
