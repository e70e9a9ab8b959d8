import Basics

/// Rows of counted times, and plain counters, of the last 30 to 60 seconds: two halves of 30 seconds, of
/// which the older one is cleared when it begins again.
///
/// All of it is one array, allocated with the first count.
struct TimeWindow {
    /// Long enough for a p99 of an endpoint with a few requests per second.
    static let half: Int64 = 30_000_000_000

    let rows: Int
    let counters: Int
    private var words: [UInt32] = []
    /// The words of one half: the rows, then the counters.
    private let stride: Int
    /// Where the current half begins.
    private var base = 0
    /// When the current half began, in nanoseconds of the loop's clock.
    private var began: Int64 = 0
    /// When the older half began; nil while it has no counts.
    private var olderBegan: Int64?

    init(rows: Int, counters: Int) {
        self.rows = rows
        self.counters = counters
        stride = rows * LogLinearBuckets.count + counters
    }

    /// Starts another half if it is time; called before counting and reading.
    mutating func advance(to now: Int64) {
        if words.isEmpty {
            words = [UInt32](repeating: 0, count: stride * 2)
            began = now
        }
        let age = now &- began
        guard age >= Self.half else { return }
        base = stride - base
        clear(from: base)
        if age >= 2 * Self.half { clear(from: stride - base) }
        olderBegan = age >= 2 * Self.half ? nil : began
        began = now
    }

    /// How long the counts go back, in nanoseconds.
    func span(at now: Int64) -> Int64 { words.isEmpty ? 0 : now &- (olderBegan ?? began) }

    private mutating func clear(from start: Int) {
        for index in start..<start + stride { words[index] = 0 }
    }

    mutating func count(_ microseconds: UInt32, in row: Int) {
        let bucket = LogLinearBuckets.bucket(of: microseconds)
        words[base &+ row &* LogLinearBuckets.count &+ bucket] &+= 1
    }

    mutating func add(to counter: Int) {
        words[base &+ rows &* LogLinearBuckets.count &+ counter] &+= 1
    }

    /// Both halves together: the rows, then the counters; empty before the first count.
    var sums: [UInt32] {
        guard !words.isEmpty else { return [] }
        return (0..<stride).map { words[$0] &+ words[stride + $0] }
    }

    /// Above which time a request is slower than this share of a row; nil with fewer counts than
    /// `countMin`. The upper bound of a bucket, so that equal times are not above it.
    func threshold(_ share: Double, of row: Int, countMin: Int) -> UInt32? {
        guard !words.isEmpty else { return nil }
        let start = row * LogLinearBuckets.count
        var total = 0
        for bucket in start..<start + LogLinearBuckets.count {
            total += Int(words[bucket]) + Int(words[stride + bucket])
        }
        guard total >= countMin else { return nil }
        var below = 0
        for bucket in 0..<LogLinearBuckets.count {
            below += Int(words[start + bucket]) + Int(words[stride + start + bucket])
            guard Double(below) >= share * Double(total) else { continue }
            return UInt32(clamping: LogLinearBuckets.bounds(of: bucket).upperBound)
        }
        return nil
    }
}
