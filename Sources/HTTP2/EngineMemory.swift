import CNGHTTP2

/// Counts the memory that nghttp2 uses for one session.
package final class EngineMemory {
    private let held: UnsafeMutablePointer<Int>
    /// nghttp2 keeps a copy, so it lives only for the creation of the session.
    var functions: nghttp2_mem

    init() {
        held = .allocate(capacity: 1)
        held.initialize(to: 0)
        functions = held.withMemoryRebound(to: size_t.self, capacity: 1) { tributary_h2_mem($0) }
    }

    deinit { held.deallocate() }

    /// In bytes.
    package var bytes: Int { held.pointee }
}
