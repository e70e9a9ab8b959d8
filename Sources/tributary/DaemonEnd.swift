import ArgumentParser
import Basics
import Glibc

/// How the daemon ended: made on the control loop, used when that loop is closed.
struct DaemonEnd {
    /// Why it ended, when it was not asked to.
    var failure: StartFailure?
    /// Workers did not end in time; their threads still exist.
    var hasAbandonedWorkers = false
    /// A loop could not close everything, such as a lookup in a thread of libuv's.
    private var hasLeftovers = false
    var log: Log?
    var logWriter: LogWriter?

    /// Long for a pipe that somebody reads, and short for one that nobody does.
    private static let flushLimit = Duration.seconds(1)

    var isClean: Bool { failure == nil && !hasAbandonedWorkers }

    /// Logs what was still open when a thread's loop was closed.
    mutating func log(_ left: [String], of thread: String, to log: Log) {
        for what in left {
            hasLeftovers = true
            log.write(.error, "left open") { line in
                line.add("thread", thread)
                line.add("what", what)
            }
        }
    }

    /// Writes out the log, for a bounded time, and ends the process if threads may still run: `exit`
    /// would free memory under an abandoned worker, and wait in libuv for a lookup that hangs.
    ///
    /// - Parameter left: what was still open when the control loop was closed
    mutating func end(left: [String]) throws {
        if let log {
            self.log(left, of: "control", to: log)
            log.flush()
        }
        logWriter?.close(within: Self.flushLimit)
        guard hasAbandonedWorkers || hasLeftovers else {
            if let failure { throw failure }
            return
        }
        if let failure { StandardStreams.printLastError("tributary: \(failure.line)\n") }
        _exit(
            (failure?.status ?? (hasAbandonedWorkers ? ExitStatus.internalError : .success))
                .rawValue)
    }
}
