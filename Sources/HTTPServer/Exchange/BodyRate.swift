/// Whether a body arrives at the minimum rate, in each time as long as the grace time. What arrived earlier
/// does not count.
struct BodyRate {
    /// How often a body is looked at in that time.
    static let steps = 20
    /// What had arrived at the latest looks, the earliest first.
    private var received: [Int]
    private var looks = 0
    private var wasSlow = false

    init(_ received: Int) { self.received = [received] }

    /// Looks at the body; nil if it is too slow, else how often it was looked at. Too slow at two looks one
    /// after the other, since bytes that arrive in bursts may just miss a look.
    mutating func check(_ total: Int, _ bytesMin: Int) -> Int? {
        looks += 1
        if looks >= Self.steps {
            let isSlow = total - received.removeFirst() < bytesMin
            guard !(isSlow && wasSlow) else { return nil }
            wasSlow = isSlow
        }
        received.append(total)
        return looks
    }
}
