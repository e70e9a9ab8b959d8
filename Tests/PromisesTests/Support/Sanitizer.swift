import Foundation

/// Whether ThreadSanitizer is active. It makes tests ten times slower and does not depend on the
/// length of a chain, so tests of long chains then use a tenth of the length. The full lengths run
/// without it, and under AddressSanitizer.
enum ThreadSanitizer {
    static let isOn = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "__tsan_init") != nil

    /// `length`, or a tenth of it.
    static func shortened(_ length: Int) -> Int { isOn ? length / 10 : length }
}

/// Whether any sanitizer is active, which replaces the allocator.
enum Sanitizer {
    static let isOn =
        ThreadSanitizer.isOn || dlsym(UnsafeMutableRawPointer(bitPattern: 0), "__asan_init") != nil
}
