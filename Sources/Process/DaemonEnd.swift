import Basics
import Glibc
import System

/// How the daemon ended: collected on the control loop, used after that loop is closed.
struct DaemonEnd {
    /// Why it ended, unless a signal ended it.
    var failure: StartFailure?
    /// Workers did not end in time; their threads still exist.
    var hasAbandonedWorkers = false
    /// A loop could not close every handle, such as a lookup in one of libuv's threads.
    private var hasLeftovers = false
    var log: Log?
    var logWriter: LogWriter?
    var pidFile: PIDFile?

    /// Enough for a pipe with a reader; a pipe without one must not keep the process alive.
    static let flushLimit = Duration.seconds(1)

    var isClean: Bool { failure == nil && !hasAbandonedWorkers }

    /// Logs the handles that were still open when a thread's loop was closed.
    mutating func log(_ leftovers: [String], of thread: String, to log: Log) {
        for what in leftovers {
            hasLeftovers = true
            log.write(.error, "left open") { line in
                line.add("thread", thread)
                line.add("what", what)
            }
        }
    }

    /// Writes out the log, for a bounded time, and ends the process if threads may still run:
    /// `exit` would free memory under an abandoned worker, and wait in libuv for a lookup that
    /// hangs.
    ///
    /// - Parameter leftovers: the handles that were still open when the control loop was closed
    mutating func end(leftovers: [String]) throws {
        if let log {
            self.log(leftovers, of: "control", to: log)
            log.flush()
        }
        logWriter?.close(within: Self.flushLimit)
        pidFile?.remove()
        guard hasAbandonedWorkers || hasLeftovers else {
            if let failure { throw failure }
            return
        }
        if let failure { StandardStreams.printLastError("tributary: \(failure.line)\n") }
        _exit(
            failure?.status ?? (hasAbandonedWorkers ? SystemExit.internalError : EXIT_SUCCESS))
    }
}
