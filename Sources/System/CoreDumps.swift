import CUV

/// Core dumps of this process, which would write keys, tokens and bodies to a file.
package enum CoreDumps {
    /// No core dump is written from now on, and on Linux only root can attach a debugger.
    package static func forbid() { tributary_forbid_core_dumps() }
}
