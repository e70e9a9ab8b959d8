/// Limits the cost of the patterns of one request. Matching runs on the thread of a worker, which
/// handles no other request meanwhile.
///
/// A match costs at most one step for every instruction of the pattern and byte of the value. The
/// limit is the product of the largest pattern (2,000 instructions) and half of the largest default
/// URI (4 KiB): less than a tenth of a second even if every instruction of the pattern is active. A
/// value of 1 MiB passes a pattern of up to 8 instructions, such as `[A-Za-z0-9+/]*={0,2}`. The
/// cost depends on the request alone, so that the same request always gets the same response.
package struct PatternWork {
    static let stepsMax = 1 << 23

    private var stepsLeft = PatternWork.stepsMax

    package init() {}

    /// Counts a match; false if the request has used up its budget.
    package mutating func take(instructions: Int, bytes: Int) -> Bool {
        let (steps, overflow) = instructions.multipliedReportingOverflow(by: bytes)
        guard !overflow, steps <= stepsLeft else { return false }
        stepsLeft -= steps
        return true
    }
}
