package import Basics
import Gateway
import HTTP

/// The counts of one endpoint on one worker.
package struct EndpointMetrics: Sendable {
    package let name: String
    /// The number of responses of each status, by ascending status.
    package private(set) var statuses: [(code: UInt16, count: Int)] = []
    /// Responses that lack parts of calls that failed.
    package private(set) var partial = 0
    /// Of request bodies.
    package private(set) var bytesReceived = 0
    /// Of response bodies.
    package private(set) var bytesSent = 0
    /// From the head to the last byte handed to the kernel.
    package private(set) var durations = HistogramWithExemplars(.durations)
    /// The time in which no call was in progress and nothing else was awaited.
    package private(set) var ownTimes = Histogram(.ownTimes)
    /// From the head of a request to the head of its response, of responses that are sent part by part; nil
    /// if the endpoint has sent none.
    package private(set) var firstParts: Histogram?

    package init(name: String) {
        self.name = name
    }

    /// Whether a request has ended, or its statuses are shown.
    package var isUsed: Bool { !statuses.isEmpty }

    /// A request, which has ended.
    ///
    /// - Parameter hidesOwnTime: padding hides how long the gateway worked; the total is what clients
    ///   see, too
    mutating func count(_ record: RequestRecord, _ end: CountedEnd, hidesOwnTime: Bool) {
        add(end.status, 1)
        if case .partial = end.outcome { partial &+= 1 }
        bytesReceived &+= record.bodyBytes
        bytesSent &+= end.bodyBytes
        guard record.ended.hasHappened else { return }
        durations.record(Int64(record.ended.microseconds), end.exemplar)
        if record.firstPart.hasHappened {
            showFirstParts()
            firstParts?.record(Int64(record.firstPart.microseconds))
        }
        if !hidesOwnTime { ownTimes.record(Int64(record.times.microseconds(.own))) }
    }

    /// Something that was refused before it was a request: it has a status and no times.
    mutating func countRefusal(_ status: UInt16) { add(status, 1) }

    mutating func add(_ other: EndpointMetrics) {
        for (code, count) in other.statuses { add(code, count) }
        partial &+= other.partial
        bytesReceived &+= other.bytesReceived
        bytesSent &+= other.bytesSent
        durations.add(other.durations)
        ownTimes.add(other.ownTimes)
        if let others = other.firstParts {
            showFirstParts()
            firstParts?.add(others)
        }
    }

    /// Makes the histogram of first parts visible before there is one.
    mutating func showFirstParts() {
        if firstParts == nil { firstParts = Histogram(.durations) }
    }

    /// Makes statuses visible before they occur, so that rates begin at their first event.
    mutating func show(_ codes: some Sequence<UInt16>) {
        for code in codes { add(code, 0) }
    }

    private mutating func add(_ code: UInt16, _ count: Int) {
        let index = statuses.firstIndex { $0.code >= code } ?? statuses.count
        if index < statuses.count, statuses[index].code == code {
            statuses[index].count &+= count
        } else {
            statuses.insert((code, count), at: index)
        }
    }

    /// A copy that shares no memory.
    var copy: EndpointMetrics {
        var copy = EndpointMetrics(name: name)
        copy.add(self)
        return copy
    }
}
