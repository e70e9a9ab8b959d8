/// How often a call was sent again on another connection of HTTP/2.
struct CallResends {
    /// After the backend had processed neither the request nor another one of the connection.
    private var unprocessed = 0
    /// After its connection had been lost.
    private var lost = 0

    /// A request that the backend has not processed may always be sent again (RFC 9113 8.7).
    ///
    /// 3: a backend that refuses every request must not get it without end.
    private static let unprocessedMax = 3

    /// Counts one more; false if there were enough.
    mutating func countUnprocessed() -> Bool {
        guard unprocessed < Self.unprocessedMax else { return false }
        unprocessed += 1
        return true
    }

    /// Counts one more; false if there was one, as with HTTP/1.1.
    mutating func countLost() -> Bool {
        guard lost == 0 else { return false }
        lost += 1
        return true
    }
}
