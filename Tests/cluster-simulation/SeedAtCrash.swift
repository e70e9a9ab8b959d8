#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Names the seed whose run ends the process, for example by a failed assertion; it is not known
/// otherwise, since new seeds are drawn from the time. The process ends as it would without.
enum SeedAtCrash {
    private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGABRT]
    /// One thread runs the seeds, and their signals reach it.
    nonisolated(unsafe) private static var seed: UInt64 = 0
    nonisolated(unsafe) private static var formerActions: [(signal: Int32, action: sigaction)] = []

    static func watch() {
        for number in signals {
            var former = sigaction()
            unsafe sigaction(number, nil, &former)
            unsafe formerActions.append((number, former))
            signal(number) { _ in SeedAtCrash.report() }
        }
    }

    static func begin(_ seed: UInt64) { unsafe self.seed = seed }

    /// Restores the former actions: the signal comes again when the handler returns.
    private static func report() {
        for former in unsafe formerActions {
            var action = former.action
            unsafe sigaction(former.signal, &action, nil)
        }
        let text = Array("seed \(unsafe seed) ends the process\n".utf8)
        _ = unsafe write(STDERR_FILENO, text, text.count)
    }
}
