/// Decides which requests that nothing is remarkable about are recorded: all up to a thousand per second,
/// beyond that one in k.
struct SampleLimit {
    /// What a person cannot read anyway, and what the ring keeps for some seconds.
    static let perSecond = 1_000

    private var second: Int64 = .min
    private var seen = 0
    private var taken = 0
    /// One in so many, from the number of requests in the second before.
    private(set) var oneIn = 1

    mutating func accepts(second: Int64) -> Bool {
        if second != self.second {
            // After a pause the number of requests before says nothing.
            let isNext = second == self.second &+ 1
            oneIn = isNext ? max(1, (seen + Self.perSecond - 1) / Self.perSecond) : 1
            self.second = second
            seen = 0
            taken = 0
        }
        seen += 1
        guard seen % oneIn == 0, taken < Self.perSecond else { return false }
        taken += 1
        return true
    }
}
