import Basics

/// The time in which something was certainly in progress.
struct ConcurrentSpan {
    let from: Instant
    let to: Instant?

    /// The largest number of overlapping spans. One that ends when another begins does not overlap it.
    static func most(_ spans: [ConcurrentSpan]) -> Int {
        var edges: [(time: Instant, change: Int)] = []
        for span in spans where span.to != span.from {
            edges.append((span.from, 1))
            if let to = span.to { edges.append((to, -1)) }
        }
        edges.sort { $0.time == $1.time ? $0.change < $1.change : $0.time < $1.time }
        var (count, most) = (0, 0)
        for edge in edges {
            count += edge.change
            most = max(most, count)
        }
        return most
    }
}
