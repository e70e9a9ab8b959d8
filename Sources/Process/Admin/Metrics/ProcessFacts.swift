import Basics
import Gateway

/// Values of the process as a whole, which no worker counts.
struct ProcessFacts: Sendable {
    /// The number of reloads, by result, and when the present configuration was loaded.
    struct Reloads: Sendable {
        var succeeded = 0
        var failed = 0
        /// The last reload, or the start.
        var isLastSuccessful = true
        /// When the present configuration was loaded, in nanoseconds since 1970.
        var loadedAt: Int64 = 0

        init() {}
    }

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

    /// The queue in front of the thread that writes the log.
    struct LogFacts: Sendable {
        /// Since the start of the process.
        let linesDropped: Int
        let bytesQueued: Int
        let bytesMax: Int

        init(linesDropped: Int = 0, bytesQueued: Int = 0, bytesMax: Int = 0) {
            self.linesDropped = linesDropped
            self.bytesQueued = bytesQueued
            self.bytesMax = bytesMax
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
    /// That of the configuration in use.
    let digest: String
    /// In nanoseconds since 1970.
    let startedAt: Int64
    let reloads: Reloads
    let log: LogFacts
    let descriptors: Descriptors
    /// Nil where the system does not report it.
    let usage: Usage?
    let spans: SpanCounts
    let limitCells: LimitCellFacts

    init(
        version: String, digest: String, startedAt: Int64 = 0, reloads: Reloads = Reloads(),
        log: LogFacts = LogFacts(), descriptors: Descriptors, usage: Usage? = nil,
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
