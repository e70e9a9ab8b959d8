import Foundation
import MallocCounter

/// One implementation of the work of a case.
struct Contender {
    let name: String
    /// Does the work `times` times.
    let run: (_ times: Int) -> Void
    /// Work that is not part of the case and is subtracted, such as the chain before its last link.
    var without: ((_ times: Int) -> Void)?
}

/// The same work for all contenders, and the units of work in one run.
struct Case {
    let title: String
    var unitsPerTime = 1.0
    var contenders: [Contender]
}

/// The measurements of one contender.
struct Measured {
    let name: String
    /// Nanoseconds per unit, one sample a round, in the same order for all contenders.
    let nanoseconds: [Double]
    let allocations: Double

    var median: Double { Benchmarks.median(nanoseconds) }

    /// The median of the ratios of samples of the same round.
    func ratio(to other: Measured) -> Double {
        Benchmarks.median(zip(nanoseconds, other.nanoseconds).map { $0 / $1 })
    }
}

/// Takes samples of all contenders in turn, so that other load on the machine affects all alike.
struct Meter {
    var rounds = 41
    var nanosecondsPerSample = 4e6
    var clock = CLOCK_PROCESS_CPUTIME_ID

    func measure(_ one: Case) -> [Measured] {
        let times = one.contenders.map { calibrated($0) }
        var samples = [[Double]](repeating: [], count: one.contenders.count)
        for round in 0..<rounds {
            for offset in one.contenders.indices {
                // Every round begins with another contender.
                let index = (offset + round) % one.contenders.count
                let contender = one.contenders[index]
                var spent = time { contender.run(times[index]) }
                if let without = contender.without { spent -= time { without(times[index]) } }
                samples[index].append(spent / Double(times[index]) / one.unitsPerTime)
            }
        }
        return zip(one.contenders, samples).map { contender, samples in
            Measured(
                name: contender.name, nanoseconds: samples,
                allocations: allocations(of: contender, units: one.unitsPerTime))
        }
    }

    /// How many runs fill a sample. Also warms up caches.
    private func calibrated(_ contender: Contender) -> Int {
        var times = 1
        while true {
            let spent = time { contender.run(times) }
            if spent > nanosecondsPerSample / 4 || times > 1 << 24 {
                return max(1, Int(Double(times) * nanosecondsPerSample / spent))
            }
            times *= 4
        }
    }

    private func allocations(of contender: Contender, units: Double) -> Double {
        let times = max(1, Int(2_000 / units))
        var count = allocations { contender.run(times) }
        if let without = contender.without { count -= allocations { without(times) } }
        return count / Double(times) / units
    }

    private func allocations(of work: () -> Void) -> Double {
        let before = mallocCountOfProcess()
        mallocCountProcess(true)
        work()
        mallocCountProcess(false)
        return Double(mallocCountOfProcess() - before)
    }

    func time(_ work: () -> Void) -> Double {
        let start = now()
        work()
        return now() - start
    }

    private func now() -> Double {
        var moment = timespec()
        clock_gettime(clock, &moment)
        return Double(moment.tv_sec) * 1e9 + Double(moment.tv_nsec)
    }
}

func median(_ samples: [Double]) -> Double {
    let sorted = samples.sorted()
    guard !sorted.isEmpty else { return .nan }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
