import CUV

/// What tools such as `top` call the present thread.
package enum ThreadName {
    /// Names the calling thread; the kernel keeps 15 bytes. Only for people, so a failure is none.
    package static func set(_ name: String) {
        tributary_name_thread(name)
    }
}
