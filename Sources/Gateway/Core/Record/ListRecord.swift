/// The list of one call, whose requests have the call's attempts. A part of a `RequestRecord`.
package struct ListRecord: Sendable, Equatable {
    /// The index of the call.
    package let call: Int
    /// How many elements it has, without those that were left out.
    package let elements: Int
    /// How many of them share the request of another element.
    package let shared: Int
    /// How many were left out because of `max`.
    package let truncated: Int
    /// How many elements have failed; known at the end of the call.
    package internal(set) var failed = 0

    package init(call: Int, elements: Int, shared: Int, truncated: Int) {
        self.call = call
        self.elements = elements
        self.shared = shared
        self.truncated = truncated
    }
}

/// The times of the requests of a list, retries and hedges included.
package struct ListTimes {
    /// How many requests a host was given.
    package let requests: Int
    /// From the begin of an attempt to its end, in microseconds; 0 without a request that has ended.
    package let shortest: UInt32
    package let median: UInt32
    package let longest: UInt32

    /// - Parameters:
    ///   - call: its index
    ///   - attempts: all of the request of the client
    package init(of call: Int, in attempts: [AttemptRecord]) {
        let sent = attempts.filter { Int($0.call) == call && $0.permitted.hasHappened }
        let durations = sent.filter(\.ended.hasHappened).map {
            $0.ended.microseconds &- $0.began.microseconds
        }.sorted()
        requests = sent.count
        shortest = durations.first ?? 0
        median = durations.isEmpty ? 0 : durations[durations.count / 2]
        longest = durations.last ?? 0
    }
}
