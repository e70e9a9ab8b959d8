import Basics
import Gateway

/// Values of the process as a whole, which no worker counts.
struct ProcessFacts: Sendable {
    /// The process's file descriptors.
    struct Descriptors: Sendable {
        let limit: Int
        /// Nil where the system does not report it.
        let open: Int?

        init(limit: Int, open: Int?) {
            self.limit = limit
            self.open = open
        }
    }

    /// What the process uses of the machine.
    struct Usage: Sendable {
        let cpuSeconds: Double
        let residentBytes: Int

        init(cpuSeconds: Double, residentBytes: Int) {
            self.cpuSeconds = cpuSeconds
            self.residentBytes = residentBytes
        }
    }

    /// The table of rate limits.
    struct LimitCellFacts: Sendable {
        /// Keys that are not at their full burst.
        let keys: Int
        /// The keys that the table has room for.
        let keysMax: Int
        /// Keys whose requests were forgotten because the table was full there.
        let keysDropped: Int

        init(keys: Int = 0, keysMax: Int = 0, keysDropped: Int = 0) {
            self.keys = keys
            self.keysMax = keysMax
            self.keysDropped = keysDropped
        }

        /// - Parameter table: of the process; without limits all numbers are 0
        init(_ table: LimitTable, at moment: Instant) {
            let cells = table.cellsIfUsed
            self.init(
                keys: cells?.liveKeys(at: moment) ?? 0, keysMax: cells?.capacity ?? 0,
                keysDropped: cells?.droppedKeys ?? 0)
        }
    }

    let version: String
    /// The digest of the configuration in use.
    let digest: String
    /// In nanoseconds since 1970.
    let startedAt: Int64
    let reloads: ReloadCounts
    let log: LogCounts
    let descriptors: Descriptors
    /// Nil where the system does not report it.
    let usage: Usage?
    let spans: SpanCounts
    let limitCells: LimitCellFacts

    init(
        version: String, digest: String, startedAt: Int64 = 0,
        reloads: ReloadCounts = ReloadCounts(),
        log: LogCounts = LogCounts(), descriptors: Descriptors, usage: Usage? = nil,
        spans: SpanCounts = SpanCounts(), limitCells: LimitCellFacts = LimitCellFacts()
    ) {
        self.version = version
        self.digest = digest
        self.startedAt = startedAt
        self.reloads = reloads
        self.log = log
        self.descriptors = descriptors
        self.usage = usage
        self.spans = spans
        self.limitCells = limitCells
    }
}
