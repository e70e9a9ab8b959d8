#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Identifies a thread.
struct ThreadID: Equatable, Sendable {
    let raw: UInt

    static var current: ThreadID {
        #if canImport(Darwin)
            ThreadID(raw: UInt(bitPattern: pthread_self()))
        #else
            ThreadID(raw: UInt(pthread_self()))
        #endif
    }
}
