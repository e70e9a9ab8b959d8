import CUV

/// Random numbers of the operating system: the seeds of the loops, and the keys of hashes.
package enum SystemRandom {
    /// 64 random bits.
    package static func word() -> UInt64 {
        var word: UInt64 = 0
        let code = withUnsafeMutableBytes(of: &word) { bytes in
            tributary_uv_random(bytes.baseAddress, bytes.count)
        }
        // Clock and process id are weak, but better than a constant; what must be secret beyond
        // collisions of hashes and the order of ids does not use this function.
        return code == 0 ? word : uv_hrtime() ^ UInt64(uv_os_getpid()) << 32
    }
}
