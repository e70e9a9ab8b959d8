// Measures the table of rate limits in release: `script/verify limits` compiles it together with the
// sources of the table.
//
// Two threads make a million checks of one key by the system's clock. The sum of their grants must be
// burst + rate × time, with an error of at most 2. Then the time of a check, hash included.
import Glibc
import Synchronization

func monotonic() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

final class Count: Sendable {
    let granted = Atomic<Int>(0)
    let first = Atomic<Int64>(.max)
    let last = Atomic<Int64>(0)
    let ready = Atomic<Int>(0)
}

func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    final class Job: Sendable {
        let index: Int
        let body: @Sendable (Int) -> Void
        init(_ index: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.index = index
            self.body = body
        }
    }
    var threads: [pthread_t] = []
    for index in 0..<count {
        var thread = pthread_t()
        let job = Unmanaged.passRetained(Job(index, body))
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let job = Unmanaged<Job>.fromOpaque(argument).takeRetainedValue()
                job.body(job.index)
                return nil
            }, job.toOpaque())
        threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
}

let (threads, checks) = (2, 500_000)
var failures = 0

for (rate, burst) in [(1000, 1000), (10_000, 10_000), (30_000, 30_000), (100_000, 100_000), (7, 7)]
{
    guard let bucket = TokenBucket(count: rate, per: .seconds(1), burst: burst) else { continue }
    let (cells, count) = (LimitCells(), Count())
    onThreads(threads) { _ in
        var granted = 0
        count.ready.add(1, ordering: .sequentiallyConsistent)
        while count.ready.load(ordering: .sequentiallyConsistent) < threads {}
        count.first.min(monotonic(), ordering: .relaxed)
        var now: Int64 = 0
        for _ in 0..<checks {
            now = monotonic()
            if cells.charge(42, of: bucket, at: Instant(nanoseconds: now)).isGranted {
                granted += 1
            }
        }
        count.last.max(now, ordering: .relaxed)
        count.granted.add(granted, ordering: .relaxed)
    }
    let time = count.last.load(ordering: .relaxed) - count.first.load(ordering: .relaxed)
    let expected = Double(burst) + Double(rate) * Double(time) / 1e9
    let granted = count.granted.load(ordering: .relaxed)
    let isExact = abs(Double(granted) - expected) <= 2
    if !isExact { failures += 1 }
    let perCheck = Double(time) / Double(checks)
    print(
        "\(isExact ? "ok    " : "FAILED") \(rate)/s, burst \(burst): \(threads * checks) checks on"
            + " \(threads) threads in \(time / 1_000_000) ms (\(Int(perCheck)) ns each, clock included):"
            + " granted \(granted), expected \((expected * 10).rounded() / 10)")
}

for (keys, text) in [(1, "one key"), (50_000, "50000 keys")] {
    for (count, period, kind) in [(1000, 60, "whole interval"), (7, 1, "fractional interval")] {
        guard let bucket = TokenBucket(count: count, per: .seconds(period), burst: 1000) else {
            continue
        }
        let cells = LimitCells()
        var name = KeyedHash(KeyedHash.Key(1, 2))
        name.combine(Bytes("per_client").span)
        var best = Double.infinity
        var sum = 0
        for _ in 0..<5 {
            let start = monotonic()
            for check in 0..<1_000_000 {
                var hash = name
                hash.combine(4)
                hash.combine(UInt64(check % keys))
                let moment = Instant(nanoseconds: start + Int64(check) * 1000)
                if cells.charge(hash.value, of: bucket, at: moment).isGranted { sum += 1 }
            }
            best = min(best, Double(monotonic() - start) / 1_000_000)
        }
        let isFast = best <= 100
        if !isFast { failures += 1 }
        print(
            "\(isFast ? "ok    " : "FAILED") a check by address, \(text), \(kind):"
                + " \((best * 10).rounded() / 10) ns (\(sum) granted)")
    }
}
exit(failures == 0 ? 0 : 1)
