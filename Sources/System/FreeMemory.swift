import CUV

/// The memory that the allocator of this process keeps for later.
package enum FreeMemory {
    /// Returns it to the system, where the C library can. Other threads may wait meanwhile when they allocate.
    package static func trim() { tributary_trim_memory() }
}
