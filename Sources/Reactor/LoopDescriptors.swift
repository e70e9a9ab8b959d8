/// What one loop may open of its process's file descriptors, and how often it found none. Owned by
/// its loop and confined to its thread.
///
/// The system gives out the lowest free number. So a number at a ceiling says that all below it are
/// in use, by whichever thread, file or name lookup: each loop sees the state of the whole process
/// without a counter that the loops would share.
package final class LoopDescriptors {
    /// A listener stops accepting at this number: what is above is for connections to backends.
    package var acceptCeiling = Int.max

    /// No connection is opened with this number or a higher one: what is above is for the admin
    /// address, for name lookups and for files.
    package var connectCeiling = Int.max

    /// How often descriptors were short.
    package private(set) var shortages = DescriptorShortages()

    /// Called with each shortage, inside of a call of the loop.
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

/// How often descriptors were short, by what needed one.
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
