import Glibc

/// The processor time of this thread, in nanoseconds.
func threadTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Bytes per nanosecond, which is GB/s, of each action. The actions take turns, so that changes of the
/// machine's speed affect all of them; the result is the median of the rounds.
func speeds(bytes: Int, _ actions: [() -> Void]) -> [Double] {
    let repetitions = max(1, 15_000_000 / bytes)
    var rounds = actions.map { _ in [Double]() }
    for action in actions { action() }
    for _ in 0..<15 {
        for (index, action) in actions.enumerated() {
            let start = threadTime()
            for _ in 0..<repetitions { action() }
            rounds[index].append(Double(bytes * repetitions) / (threadTime() - start))
        }
    }
    return rounds.map { $0.sorted()[$0.count / 2] }
}

func rounded(_ value: Double, digits: Int = 2) -> String {
    let scale = digits == 1 ? 10.0 : 100.0
    let whole = Int((value * scale).rounded())
    let fraction = String(whole % Int(scale))
    return
        "\(whole / Int(scale)).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
}
