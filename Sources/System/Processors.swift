import CUV

/// The parallelism of the machine.
package enum Processors {
    /// The processors that this process may use; at least 1.
    package static var available: Int { max(1, Int(uv_available_parallelism())) }
}
