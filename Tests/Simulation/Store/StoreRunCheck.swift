/// The rules of a limit that replicas share.
struct StoreRunCheck {
    private let plan: StoreRunPlan
    private let record: StoreRunRecord
    private var found: [Violation] = []

    /// The store's timeout.
    private static let timeout = 50.0
    /// A request that does not wait for the store: the backend's time, and packets in several pieces.
    private static let ownTime = 12.0
    /// After the end of a fault every worker has probed the store again: an attempt that began before
    /// takes a second, and the next one begins a second after it.
    private static let recovery = 1_400.0
    /// How long after the beginning of a fault a reply that was sent before may be counted as late.
    private static let detection = 400.0
    /// How long a packet is on its way at most.
    private static let packet = 0.2

    init(_ plan: StoreRunPlan, _ record: StoreRunRecord) {
        self.plan = plan
        self.record = record
        checkResponses()
        checkWaits()
        checkChanges()
        checkUnsolicited()
        checkRareKey()
        checkUp()
        checkDown()
    }

    var violations: [Violation] { found }

    private mutating func add(_ text: String) {
        guard found.count < 5 else { return }
        found.append(Violation(.store, text))
    }

    // MARK: Requests

    private mutating func checkResponses() {
        if record.unanswered > 0 { add("\(record.unanswered) requests without a response") }
        for request in record.requests where request.status != 200 && request.status != 429 {
            add("status \(request.status) at \(request.began) ms")
        }
        if record.requests.isEmpty { add("no request") }
    }

    /// No request waits longer than the timeout, and none while its worker knows that the store is
    /// down.
    private mutating func checkWaits() {
        for request in record.requests {
            let time = request.ended - request.began
            if time > Self.timeout + Self.ownTime {
                add("a request at \(request.began) ms took \(time) ms")
            }
            if time > Self.ownTime, isDown(request.worker, request.began, request.ended) {
                add("a request at \(request.began) ms waited \(time) ms for a store that is down")
            }
        }
    }

    // MARK: Up and down

    /// Whether the worker knew during the whole interval that the store was down.
    private func isDown(_ worker: Int, _ from: Double, _ until: Double) -> Bool {
        let changes = record.changes.filter { $0.worker == worker && $0.at <= until }
        guard let last = changes.last, !last.isUp else { return false }
        return last.at < from
    }

    /// A worker changes its mind only because of a fault, and has the store back in time.
    private mutating func checkChanges() {
        for change in record.changes {
            let isExplained = plan.faults.contains { fault in
                change.at >= Double(fault.from)
                    && change.at <= Double(fault.until)
                        + (change.isUp ? Self.recovery : Self.detection)
            }
            if !isExplained { add("without a fault at \(change.at) ms: \(change.text)") }
        }
        for worker in 0..<plan.workers {
            if let last = record.changes.last(where: { $0.worker == worker }), !last.isUp {
                add("worker \(worker) still has the store as down")
            }
        }
    }

    /// Only these faults send a reply that no command waits for: a late one belongs to its own command.
    private mutating func checkUnsolicited() {
        let kinds: [StoreFault.Kind] = [.repeatsReplies, .malformed]
        for change in record.changes where change.text.contains("unsolicited reply") {
            let isExplained = plan.faults.contains { fault in
                kinds.contains(fault.kind) && change.at >= Double(fault.from)
                    && change.at <= Double(fault.until) + Self.detection
            }
            if !isExplained { add("at \(change.at) ms: \(change.text)") }
        }
    }

    /// Times without a fault, in which all workers use the store.
    private var calmTimes: [(from: Double, until: Double)] {
        var times: [(from: Double, until: Double)] = []
        var from = 0.0
        for fault in plan.faults {
            times.append((from, Double(fault.from)))
            from = Double(fault.until) + Self.recovery
        }
        times.append((from, Double(StoreRunPlan.duration)))
        return times.filter { $0.from < $0.until }
    }

    // MARK: Limits

    /// The rare key never uses its burst.
    private mutating func checkRareKey() {
        for request in record.requests
        where request.key == StoreRunPlan.rareKey && request.status == 429
            && !mayHaveReplyOfAnother(request)
        {
            add("a request with the rare key was refused at \(request.began) ms")
        }
    }

    /// Replies of Redis have no ids. If the store repeats one, the next request that waits on the connection takes
    /// the copy for its own reply.
    private func mayHaveReplyOfAnother(_ request: StoreRunRecord.Request) -> Bool {
        plan.faults.contains { fault in
            if case .repeatsReplies = fault.kind {
                request.ended >= Double(fault.from)
                    && request.began <= Double(fault.until) + Self.packet
            } else {
                false
            }
        }
    }

    private mutating func checkUp() {
        for (from, until) in calmTimes {
            for key in 0..<plan.keys {
                let all = record.requests.filter {
                    $0.key == key && $0.began >= from && $0.ended <= until
                }
                let granted = all.filter { $0.status == 200 }
                let span = "from \(from) to \(until) ms"
                if let excess = excess(granted, burst: burstOfAll, rate: plan.rate) {
                    add("key \(key) \(span): \(excess)")
                }
                guard key != StoreRunPlan.rareKey, until - from > 1_500 else { continue }
                // The clients ask for twice the limit.
                let expected = Double(plan.rate) * (until - from) / 1000 / 2
                if Double(granted.count) < min(expected, Double(all.count) / 2) {
                    add("key \(key) \(span): only \(granted.count) of \(all.count) granted")
                }
            }
        }
    }

    /// With `sync`, each replica grants a burst before it learns of the others, and in each interval
    /// what it knows of.
    private var burstOfAll: Int {
        guard let sync = plan.sync else { return plan.burst }
        return plan.burst * plan.replicas.count
            + (plan.replicas.count - 1) * (plan.rate * (sync + 60) / 1000 + 1)
    }

    /// While all workers of a replica know that the store is down, the replica grants its share.
    private mutating func checkDown() {
        for replica in plan.replicas.indices {
            let first = plan.replicas[..<replica].reduce(0, +)
            let workers = first..<(first + plan.replicas[replica])
            for key in 1..<plan.keys {
                let granted = record.requests.filter { request in
                    request.replica == replica && request.key == key && request.status == 200
                        && workers.allSatisfy { isDown($0, request.began, request.ended) }
                }
                // Requests of different outages are apart by far more than their bursts.
                let rate = max(1, plan.rate / plan.replicas.count + 1)
                if let excess = excess(granted, burst: plan.localBurst, rate: rate) {
                    add("key \(key) of replica \(replica) without the store: \(excess)")
                }
            }
        }
    }

    /// A time in which more requests were granted than the burst, the rate and one for each worker
    /// allow; nil without one.
    private func excess(
        _ granted: [StoreRunRecord.Request], burst: Int, rate: Int
    ) -> String? {
        let sorted = granted.sorted { $0.began < $1.began }
        for first in sorted.indices {
            var last = 0.0
            for index in first..<sorted.count {
                last = max(last, sorted[index].ended)
                let time = last - sorted[first].began
                let count = index - first + 1
                let allowed = Double(burst + plan.workers) + Double(rate) * time / 1000
                if Double(count) > allowed {
                    return "\(count) requests in \(time) ms, from \(sorted[first].began) ms"
                }
            }
        }
        return nil
    }
}
