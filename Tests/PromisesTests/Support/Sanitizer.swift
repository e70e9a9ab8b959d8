import Foundation

/// Whether this process is watched by ThreadSanitizer, which makes everything ten times slower and
/// has nothing to say about the length of a chain: tests of mere length then take a tenth of it.
/// The full lengths run without it (and under AddressSanitizer).
enum ThreadSanitizer {
    static let isOn = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "__tsan_init") != nil

    /// `length`, or a tenth of it.
    static func shortened(_ length: Int) -> Int { isOn ? length / 10 : length }
}
