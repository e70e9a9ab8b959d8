import Assembly
import Basics

/// The requests that wait for their export, in the order of their arrival. Its memory is bounded by
/// `SpanBacklog`.
struct SpanQueue {
    private struct Entry {
        let request: TracedRequest
        let arrived: Instant
    }

    /// The requests of one export.
    struct Batch {
        var requests: [TracedRequest] = []
        var spans = 0
        /// When its oldest request arrived.
        let arrived: Instant
    }

    private var entries: [Entry] = []
    /// The entries before it have been taken.
    private var first = 0
    private(set) var spans = 0

    var isEmpty: Bool { first == entries.count }

    mutating func append(_ requests: [TracedRequest], at now: Instant) {
        for request in requests {
            entries.append(Entry(request: request, arrived: now))
            spans += request.spanCount
        }
    }

    /// Takes the oldest requests with about as many spans, at least one request; nil if the queue is
    /// empty.
    mutating func takeBatch(spansMax: Int) -> Batch? {
        guard first < entries.count else { return nil }
        var batch = Batch(arrived: entries[first].arrived)
        while first < entries.count {
            let count = entries[first].request.spanCount
            guard batch.requests.isEmpty || batch.spans + count <= spansMax else { break }
            batch.requests.append(entries[first].request)
            batch.spans += count
            first += 1
        }
        spans -= batch.spans
        compact()
        return batch
    }

    /// Removes the requests that arrived before a moment; returns the number of their spans.
    mutating func removeAll(before moment: Instant) -> Int {
        var removed = 0
        while first < entries.count, entries[first].arrived < moment {
            removed += entries[first].request.spanCount
            first += 1
        }
        spans -= removed
        compact()
        return removed
    }

    /// Releases the memory of taken entries once they are half of all, so that each entry is moved
    /// once on average.
    private mutating func compact() {
        guard first > 0, first * 2 >= entries.count else { return }
        entries.removeFirst(first)
        first = 0
    }
}
