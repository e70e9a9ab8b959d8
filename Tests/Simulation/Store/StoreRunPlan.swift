import Basics
import Rehearsal

/// What happens in a run with a shared limit: the replicas, the limit, the traffic and the faults of the
/// store. Drawn from a seed.
struct StoreRunPlan {
    /// Workers of each replica.
    let replicas: [Int]
    /// Requests per second and key.
    let rate: Int
    let burst: Int
    /// In milliseconds; nil for `sync: each`.
    let sync: Int?
    let keys: Int
    /// Between two requests of a client, in milliseconds on average.
    let pause: Int
    let faults: [StoreFault]
    let random: RandomSource

    /// Of the whole run, in milliseconds.
    static let duration = 9_000
    /// The first key is used so rarely that no request with it may be refused.
    static let rareKey = 0

    var workers: Int { replicas.reduce(0, +) }

    init(seed: UInt64) {
        let random = RandomSource(seed: seed).derived("store")
        self.random = random
        replicas = (0..<random.number(1...3)).map { _ in random.number(1...2) }
        let rate = random.pick([10, 20, 50])
        self.rate = rate
        burst = random.pick([6, 10, rate])
        sync = random.maybe(0.3, random.pick([20, 100, 300]))
        keys = random.number(2...3)
        // One client for each worker and key, together twice the limit.
        pause = max(5, replicas.reduce(0, +) * 1000 / (2 * rate))
        faults = Self.faults(random.derived("faults"))
    }

    /// With room between two faults, so that every worker finds the store again.
    private static func faults(_ random: RandomSource) -> [StoreFault] {
        var faults: [StoreFault] = []
        var earliest = 1_200
        for _ in 0..<random.number(0...2) {
            let from = earliest + random.number(0...600)
            let kind = random.pick(StoreFault.Kind.allCases)
            let until = from + (kind == .hiccup ? 3 : random.number(200...1_500))
            faults.append(StoreFault(kind: kind, from: from, until: until))
            earliest = until + 1_700
        }
        return faults
    }

    /// The configuration of a replica.
    var config: String {
        let sync = sync.map { "\($0)ms" } ?? "each"
        return """
            version: 1
            log: { access: false }
            store: { url: redis://10.0.0.9 }
            rate_limits:
              it: { rate: \(rate)/s, burst: \(burst), key: "{request.header.X-Key}", share: store, sync: \(sync), replicas: \(replicas.count) }
            backends: { a: { url: "http://10.0.0.8:7001" } }
            endpoints:
              - route: GET /x
                rate_limits: [it]
                calls: { one: { from: a, get: /1 } }
            """
    }

    /// The share of one replica while the store is down.
    var localBurst: Int { max(1, burst / replicas.count) }
}

/// A fault of the store, in milliseconds since the run began.
struct StoreFault {
    enum Kind: CaseIterable {
        case killed, frozen, slow, hiccup, readOnly, full, loading, password, malformed
        case repeatsReplies, closes, forgetsScripts, unreachable
    }

    let kind: Kind
    let from: Int
    let until: Int

    /// What the store does; nil if the fault is one of the process or the network.
    var storeFault: SimulatedStore.Fault? {
        switch kind {
        case .killed, .forgetsScripts: nil
        case .frozen, .unreachable: .frozen
        case .slow: .slow(.milliseconds(80))
        case .hiccup: .slow(.milliseconds(65))
        case .readOnly: .writesFail("READONLY You can't write against a read only replica.")
        case .full: .writesFail("OOM command not allowed when used memory > 'maxmemory'.")
        case .loading: .allFails("LOADING Redis is loading the dataset in memory")
        case .password: .allFails("NOAUTH Authentication required.")
        case .malformed: .malformed
        case .repeatsReplies: .repeatsReplies
        case .closes: .closes
        }
    }
}
