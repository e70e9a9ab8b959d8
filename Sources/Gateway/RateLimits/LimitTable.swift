package import Basics
import Synchronization

/// What rate limits share within one process: the secret of their hashes, and the cells, which
/// exist as soon as a configuration has a limit. Created once per process, usable on all threads.
package final class LimitTable: Sendable {
    package let hashKey: KeyedHash.Key
    private let lazyCells = AtomicLazyReference<LimitCells>()

    package init(hashKey: KeyedHash.Key) {
        self.hashKey = hashKey
    }

    /// Creates them at the first use.
    package var cells: LimitCells { lazyCells.storeIfNil(cellsIfUsed ?? LimitCells()) }

    /// Nil as long as no configuration had a limit.
    package var cellsIfUsed: LimitCells? { lazyCells.load() }
}
