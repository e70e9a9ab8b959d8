package import Basics

/// The memory that the streams of one loop hold by themselves, beside what their users store: sessions
/// and buffers of TLS. Owned by its loop and confined to its thread.
package final class LoopMemory {
    /// In bytes.
    package private(set) var held = 0

    /// Counts these bytes with the others of the worker; nil without a server.
    package var budget: ByteBudget? {
        didSet {
            oldValue?.release(held)
            budget?.adjust(by: held)
        }
    }

    package init() {}

    /// A stream holds more bytes, or fewer if `count` is negative. The budget may close streams, the
    /// calling one included.
    package func adjust(by count: Int) {
        held += count
        budget?.adjust(by: count)
    }

    /// Whether another byte can be held, after reclaiming memory if necessary, which may close streams.
    package var hasRoom: Bool { budget?.hasRoom() ?? true }
}
