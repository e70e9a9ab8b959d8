/// The limits of one loop for the process's file descriptors, and how often it reached them. Owned
/// by its loop and confined to its thread.
///
/// The system assigns the lowest free number. A number at a ceiling therefore means that all
/// numbers below it are in use, by any thread, file or name look-up: each loop sees the state of
/// the whole process without a shared counter.
package final class LoopDescriptors {
    /// A listener stops accepting at this number; higher ones are for connections to backends.
    package var acceptCeiling = Int.max

    /// The loop opens no connection with this number or a higher one; these are for the admin
    /// address, name look-ups and files.
    package var connectCeiling = Int.max

    /// How often descriptors were short.
    package private(set) var shortages = DescriptorShortages()

    /// Called for each shortage, from inside a call of the loop.
    package var onShortage: (DescriptorShortages.Operation) -> Void = { _ in }

    package init() {}

    /// Counts and reports that `operation` found no descriptor.
    package func reportShortage(_ operation: DescriptorShortages.Operation) {
        switch operation {
        case .accept: shortages.accepts += 1
        case .connect: shortages.connects += 1
        }
        onShortage(operation)
    }
}

/// How often descriptors were short, by the operation that needed one.
package struct DescriptorShortages: Sendable, Equatable {
    package enum Operation: Sendable {
        /// A listener stopped accepting for a while.
        case accept
        /// A connection to a backend was not opened.
        case connect
    }

    package var accepts = 0
    package var connects = 0

    package init() {}

    /// The sum over several loops.
    package mutating func add(_ other: DescriptorShortages) {
        accepts += other.accepts
        connects += other.connects
    }
}
