import Assembly
import Basics
import Gateway
import HTTP

/// What happened at one endpoint, on all workers together.
struct EndpointSummary {
    let name: String
    private let isPadded: Bool
    private(set) var totals = ActivityTotals()
    private var excess = SIMD8<UInt32>()
    private var calls: [RecordedEndpoint.Call] = []
    /// The words of a `TimeWindow`.
    private var window: [UInt32] = []
    /// How long the counts of the window go back, in nanoseconds.
    private var windowSpan: Int64 = 0
    /// Requests in 1,000 seconds: the workers' windows begin at different times.
    private var rate = 0.0

    init(_ name: String, isPadded: Bool) {
        self.name = name
        self.isPadded = isPadded
    }

    mutating func add(_ other: EndpointOverview) {
        totals.add(other.totals)
        excess &+= other.excess
        guard !other.window.isEmpty else { return }
        if window.isEmpty {
            window = other.window
            calls = other.names.calls
        } else {
            // Another number of words: a worker that has not installed the configuration yet.
            guard window.count == other.window.count else { return }
            for index in window.indices { window[index] &+= other.window[index] }
        }
        windowSpan = max(windowSpan, other.windowSpan)
        let place = other.window.count - EndpointOverview.requestCounters
        rate += Double(other.window[place]) * 1e12 / Double(max(1_000_000_000, other.windowSpan))
    }

    /// The counted times of requests of all endpoints, and the gateway's own part of them.
    static func times(of endpoints: [EndpointSummary]) -> (requests: [UInt32], own: [UInt32]) {
        var requests = [UInt32](repeating: 0, count: LogLinearBuckets.count)
        var own = requests
        for endpoint in endpoints where !endpoint.window.isEmpty {
            for index in 0..<LogLinearBuckets.count {
                requests[index] &+= endpoint.window[index]
                own[index] &+= endpoint.window[LogLinearBuckets.count + index]
            }
        }
        return (requests, own)
    }

    /// In microseconds; nil without a counted time.
    static func quantile(_ share: Double, of counts: [UInt32]) -> Int? {
        LogLinearBuckets.quantile(share, of: counts.span).map { Int($0.rounded()) }
    }

    private func quantile(_ share: Double, ofRow row: Int) -> Int? {
        guard !window.isEmpty, !isPadded else { return nil }
        let start = row * LogLinearBuckets.count
        return LogLinearBuckets.quantile(
            share, of: window.span.extracting(start..<start + LogLinearBuckets.count)
        ).map { Int($0.rounded()) }
    }

    /// Adds the counted durations of calls to a backend; endpoints with `min_duration` count none.
    func add(callsTo backend: String, to counts: inout [UInt32]) {
        guard !window.isEmpty else { return }
        for (index, call) in calls.enumerated() where call.backend == backend {
            let row = EndpointOverview.requestRows + index * EndpointOverview.callRows + 2
            for bucket in counts.indices {
                counts[bucket] &+= window[row * LogLinearBuckets.count + bucket]
            }
        }
    }

    // MARK: JSON

    func append(to json: inout [UInt8]) {
        json.appendObject { json in
            json.append("endpoint", text: name)
            if isPadded { json.append("times_hidden", flag: true) }
            json.append("requests", totals.requests)
            json.append("failed", totals.failed)
            json.append("partial", totals.partial)
            json.append("rejected", totals.rejected)
            json.append("client_gone", totals.clientGone)
            json.append("not_retained", (0..<8).reduce(0) { $0 + Int(excess[$1]) })
            appendWindow(to: &json)
            json.append("p50_ms", microseconds: quantile(0.5, ofRow: 0))
            json.append("p99_ms", microseconds: quantile(0.99, ofRow: 0))
            json.append("own_p50_ms", microseconds: quantile(0.5, ofRow: 1))
            json.append("own_p99_ms", microseconds: quantile(0.99, ofRow: 1))
            json.append("calls", list: calls.indices) { append(call: $1, to: &$0) }
        }
    }

    /// The requests of the window, as the times and the calls are.
    private func appendWindow(to json: inout [UInt8]) {
        let first = window.count - EndpointOverview.requestCounters
        func count(_ counter: Int) -> Int { window.isEmpty ? 0 : Int(window[first + counter]) }
        json.append(key: "window")
        json.appendObject { json in
            json.append("seconds", thousandths: Int(windowSpan / 1_000_000))
            json.append("rate", thousandths: Int(rate.rounded()))
            json.append("requests", count(0))
            json.append("failed", count(1))
            json.append("partial", count(2))
            json.append("rejected", count(3))
            json.append("client_gone", count(4))
        }
    }

    private func append(call index: Int, to json: inout [UInt8]) {
        let row = EndpointOverview.requestRows + index * EndpointOverview.callRows
        json.appendObject { json in
            json.append("name", text: calls[index].name)
            json.append("backend", text: calls[index].backend)
            json.append("made", counter(0, of: index))
            json.append("failed", counter(1, of: index))
            json.append("retried", counter(2, of: index))
            json.append("hedged", counter(3, of: index))
            json.append("cancelled", counter(4, of: index))
            json.append("start_p50_ms", microseconds: quantile(0.5, ofRow: row))
            json.append("start_p99_ms", microseconds: quantile(0.99, ofRow: row))
            json.append("p50_ms", microseconds: quantile(0.5, ofRow: row + 2))
            json.append("p99_ms", microseconds: quantile(0.99, ofRow: row + 2))
            json.append("end_p50_ms", microseconds: quantile(0.5, ofRow: row + 1))
            json.append("end_p99_ms", microseconds: quantile(0.99, ofRow: row + 1))
        }
    }

    private func counter(_ counter: Int, of call: Int) -> Int {
        let rows = EndpointOverview.requestRows + EndpointOverview.callRows * calls.count
        let place =
            rows * LogLinearBuckets.count + call * EndpointOverview.callCounters + counter
        return window.indices.contains(place) ? Int(window[place]) : 0
    }
}
