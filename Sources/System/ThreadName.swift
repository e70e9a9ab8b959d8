import CUV

/// The name of a thread in tools such as `top`.
package enum ThreadName {
    /// Names the calling thread; the kernel stores 15 bytes. Failures are ignored, since the name
    /// is only informative.
    package static func set(_ name: String) {
        tributary_name_thread(name)
    }
}
