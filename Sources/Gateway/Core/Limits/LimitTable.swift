package import Basics
import Synchronization

/// What rate limits share within one process: the secret of their hashes, and the cells, which
/// exist as soon as a configuration has a limit. `auth_failures` has cells of its own, which the keys
/// of rate limits cannot crowd out. Created once per process, usable on all threads.
package final class LimitTable: Sendable {
    package let hashKey: KeyedHash.Key
    private let lazyCells = AtomicLazyReference<LimitCells>()
    private let lazyFailureCells = AtomicLazyReference<LimitCells>()

    /// 8,192 keys, 64 KiB.
    private static let failureSets = 1024

    package init(hashKey: KeyedHash.Key) {
        self.hashKey = hashKey
    }

    /// Creates them at the first use.
    package var cells: LimitCells { lazyCells.storeIfNil(cellsIfUsed ?? LimitCells()) }

    /// The cells of `auth_failures`; creates them at the first use.
    package var failureCells: LimitCells {
        if let cells = lazyFailureCells.load() { return cells }
        return lazyFailureCells.storeIfNil(LimitCells(sets: Self.failureSets))
    }

    /// Nil as long as no configuration had a limit.
    package var cellsIfUsed: LimitCells? { lazyCells.load() }
}
