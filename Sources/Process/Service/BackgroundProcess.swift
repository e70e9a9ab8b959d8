import Glibc
import System

/// The process behind `--daemonize`, seen from itself: a copy of the process that the operator started,
/// in a session of its own.
///
/// The operator's process waits until this one is ready, so that a script can rely on it, and ends
/// with its exit status if it is not. The working directory stays, because a reload reads relative
/// paths again.
package final class BackgroundProcess {
    /// Closed without a byte when the process ends before it is ready.
    private let readiness: CInt

    /// Serves in a new process, which ends with `serve`; does not return in either process unless it throws.
    /// Called before any thread is started: `fork` copies one.
    ///
    /// - Parameters:
    ///   - sockets: how many inherited sockets stay open, from `firstSocket` on; everything else that the
    ///     operator's process left open is closed
    ///   - serve: runs on a thread of its own. Swift's runtime keeps the id of a thread in the thread, for the
    ///     lock of each global that is initialised when it is first used. In the thread that `fork` copied it
    ///     is the id of the operator's thread, and another thread that waits for such a lock never gets it.
    package static func start(
        keeping sockets: Int, _ serve: @escaping @Sendable (BackgroundProcess) -> Void
    ) throws(ServiceFailure) {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .fork(errno: errno) }
        let child = fork()
        guard child >= 0 else { throw .fork(errno: errno) }
        if child > 0 {
            close(ends[1])
            _exit(outcome(of: child, ends[0]))
        }
        let first = ServiceEnvironment.firstSocket
        Self.closeAll(except: Array(first..<first + CInt(sockets)) + [ends[1]])
        setsid()
        Self.replace([STDIN_FILENO, STDOUT_FILENO])
        let readiness = ends[1]
        let thread = Thread.start("main-loop") {
            CrashReport.useOwnStack()
            serve(BackgroundProcess(readiness: readiness))
            exit(EXIT_SUCCESS)
        }
        guard let thread else { throw .fork(errno: EAGAIN) }
        // The other threads handle signals.
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
        thread.join()
    }

    private init(readiness: CInt) { self.readiness = readiness }

    deinit { close(readiness) }

    /// The process serves: the one that the operator started ends with success.
    ///
    /// - Parameter log: takes standard error, unless it has it already
    func ready(log: LogFile?) {
        if log == nil {
            Self.replace([STDERR_FILENO])
        } else {
            dup2(STDOUT_FILENO, STDERR_FILENO)
        }
        var byte: UInt8 = 1
        while unsafe write(readiness, &byte, 1) < 0, errno == EINTR {}
    }

    /// Closes all descriptors but the standard streams and these.
    private static func closeAll(except kept: [CInt]) {
        // With the descriptor that read the directory, which is closed again.
        for number in (Directory.names(in: "/dev/fd") ?? []).compactMap({ CInt($0) })
        where number > STDERR_FILENO && !kept.contains(number) {
            close(number)
        }
    }

    /// Opens `/dev/null` in the place of these descriptors.
    private static func replace(_ descriptors: [CInt]) {
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return }
        defer { close(null) }
        for descriptor in descriptors { dup2(null, descriptor) }
    }

    /// Waits until the child is ready or has ended; gives the exit status for the operator.
    private static func outcome(of child: pid_t, _ readiness: CInt) -> CInt {
        var byte: UInt8 = 0
        var count: Int
        repeat { count = unsafe read(readiness, &byte, 1) } while count < 0 && errno == EINTR
        if count > 0 { return 0 }
        var status: CInt = 0
        while unsafe waitpid(child, &status, 0) < 0 { if errno != EINTR { return 70 } }
        // As a shell has it for a child that a signal ended.
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}
