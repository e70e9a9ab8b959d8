import Basics
import Gateway

/// Values of the process as a whole, which no worker counts.
struct ProcessFacts: Sendable {
    /// The process's file descriptors.
    struct Descriptors: Sendable {
        let limit: Int
        /// Nil where the system does not report it.
        let open: Int?
    }

    /// What the process uses of the machine.
    struct Usage: Sendable {
        let cpuSeconds: Double
        let residentBytes: Int
    }

    /// The table of rate limits.
    struct LimitCellFacts: Sendable {
        /// Keys that are not at their full burst.
        var keys = 0
        /// The keys that the table has room for.
        var keysMax = 0
        /// Keys whose requests were forgotten because the table was full there.
        var keysDropped = 0
    }

    let version: String
    /// The digest of the configuration in use.
    let digest: String
    /// In nanoseconds since 1970.
    var startedAt: Int64 = 0
    var reloads = ReloadCounts()
    var log = LogCounts()
    let descriptors: Descriptors
    /// Nil where the system does not report it.
    var usage: Usage?
    var spans = SpanCounts()
    var limitCells = LimitCellFacts()
}

extension ProcessFacts.LimitCellFacts {
    /// - Parameter table: of the process; without limits all numbers are 0
    init(_ table: LimitTable, at moment: Instant) {
        let cells = table.cellsIfUsed
        self.init(
            keys: cells?.liveKeys(at: moment) ?? 0, keysMax: cells?.capacity ?? 0,
            keysDropped: cells?.droppedKeys ?? 0)
    }
}
