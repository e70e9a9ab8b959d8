import CUV

/// How much the machine can do at once.
package enum Processors {
    /// The processors that this process may use; at least 1.
    package static var available: Int { max(1, Int(uv_available_parallelism())) }
}
