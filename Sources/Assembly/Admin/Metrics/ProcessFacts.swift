package import Basics
package import Gateway

/// Values of the process as a whole, which no worker counts.
package struct ProcessFacts: Sendable {
    /// The number of reloads, by result, and when the present configuration was loaded.
    package struct Reloads: Sendable {
        package var succeeded = 0
        package var failed = 0
        /// The last reload, or the start.
        package var isLastSuccessful = true
        /// When the present configuration was loaded, in nanoseconds since 1970.
        package var loadedAt: Int64 = 0

        package init() {}
    }

    /// The process's file descriptors.
    package struct Descriptors: Sendable {
        package let limit: Int
        /// Nil where the system does not report it.
        package let open: Int?

        package init(limit: Int, open: Int?) {
            self.limit = limit
            self.open = open
        }
    }

    /// The queue in front of the thread that writes the log.
    package struct LogFacts: Sendable {
        /// Since the start of the process.
        package let linesDropped: Int
        package let bytesQueued: Int
        package let bytesMax: Int

        package init(linesDropped: Int = 0, bytesQueued: Int = 0, bytesMax: Int = 0) {
            self.linesDropped = linesDropped
            self.bytesQueued = bytesQueued
            self.bytesMax = bytesMax
        }
    }

    /// What the process uses of the machine.
    package struct Usage: Sendable {
        package let cpuSeconds: Double
        package let residentBytes: Int

        package init(cpuSeconds: Double, residentBytes: Int) {
            self.cpuSeconds = cpuSeconds
            self.residentBytes = residentBytes
        }
    }

    /// The table of rate limits.
    package struct LimitCellFacts: Sendable {
        /// Keys that are not at their full burst.
        package let keys: Int
        /// The keys that the table has room for.
        package let keysMax: Int
        /// Keys whose requests were forgotten because the table was full there.
        package let keysDropped: Int

        package init(keys: Int = 0, keysMax: Int = 0, keysDropped: Int = 0) {
            self.keys = keys
            self.keysMax = keysMax
            self.keysDropped = keysDropped
        }

        /// - Parameter table: of the process; without limits all numbers are 0
        package init(_ table: LimitTable, at moment: Instant) {
            let cells = table.cellsIfUsed
            self.init(
                keys: cells?.liveKeys(at: moment) ?? 0, keysMax: cells?.capacity ?? 0,
                keysDropped: cells?.droppedKeys ?? 0)
        }
    }

    package let version: String
    /// That of the configuration in use.
    package let digest: String
    /// In nanoseconds since 1970.
    package let startedAt: Int64
    package let reloads: Reloads
    package let log: LogFacts
    package let descriptors: Descriptors
    /// Nil where the system does not report it.
    package let usage: Usage?
    package let spans: SpanCounts
    package let limitCells: LimitCellFacts

    package init(
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
