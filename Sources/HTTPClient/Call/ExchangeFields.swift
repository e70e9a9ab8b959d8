import Basics
package import HTTP

/// The fields that tell a backend about the client's request of a call: its id, its trace and the
/// remaining time.
package struct ExchangeFields {
    /// Receives what happens to the attempt.
    package let exchange: any Exchange & AttemptObserver

    /// Identifies the call in the trace. Never zero (W3C Trace Context 3.2.2.4).
    package let parentID: UInt64

    /// Nil for a request without a deadline.
    package let millisecondsLeft: UInt64?

    /// The number of the attempt for its observer; nil for one that is not observed.
    let attempt: Int?

    /// - Parameters:
    ///   - span: random; identifies the call in the trace
    ///   - left: until the deadline; a negative duration counts as zero; nil without a deadline
    ///   - attempt: its number for the observer; nil if it is not observed
    package init(
        of exchange: any Exchange & AttemptObserver, span: UInt64, left: Duration?,
        attempt: Int? = nil
    ) {
        self.exchange = exchange
        self.attempt = attempt
        parentID = span == 0 ? 1 : span
        millisecondsLeft = left.map { UInt64(max(0, $0.inNanoseconds / 1_000_000)) }
    }
}

extension TextBuffer {
    /// Appends the lines of HTTP/1.1. The types of the three values exclude line ends.
    mutating func append(_ fields: ExchangeFields) {
        append(
            linesOf: fields.exchange.id, fields.exchange.trace, parentID: fields.parentID)
        guard let left = fields.millisecondsLeft else { return }
        append(literal: "Gateway-Deadline-Ms: ")
        append(decimal: left)
        append(literal: "\r\n")
    }
}
