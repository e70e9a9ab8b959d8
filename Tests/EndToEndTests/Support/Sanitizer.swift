import Foundation

/// The sanitizer that the tests and the binary are built with, if there is one.
enum Sanitizer {
    /// The options of sanitizers, which processes receive in addition to their own environment:
    /// without them, a process writes its reports to standard error, where a test that does not
    /// read it loses them.
    static let options = ProcessInfo.processInfo.environment.filter {
        ["TSAN_OPTIONS", "ASAN_OPTIONS"].contains($0.key)
    }

    /// Whether freed memory is kept for a time, so that the memory of a process says nothing about
    /// the program: AddressSanitizer keeps up to 256 MiB, and adds a margin to each allocation.
    static let keepsFreedMemory =
        dlsym(UnsafeMutableRawPointer(bitPattern: 0), "__asan_init") != nil
}
