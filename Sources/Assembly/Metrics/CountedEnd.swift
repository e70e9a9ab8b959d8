package import HTTP

/// How a request ended, as the metrics count it.
package struct CountedEnd: Sendable {
    /// 499 is a client that disconnected, 0 a request that was cut off.
    package let status: UInt16
    package let outcome: RequestOutcome
    package let version: HTTPVersion
    /// Bytes of the response's body that were written.
    package let bodyBytes: Int
    package let exemplar: Exemplar

    package init(
        _ status: UInt16, _ outcome: RequestOutcome, _ exemplar: Exemplar,
        over version: HTTPVersion = .http11, bodyBytes: Int = 0
    ) {
        self.status = status
        self.outcome = outcome
        self.version = version
        self.bodyBytes = bodyBytes
        self.exemplar = exemplar
    }
}
