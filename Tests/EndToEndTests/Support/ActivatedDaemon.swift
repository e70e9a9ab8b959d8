import Foundation

/// A daemon that gets listening sockets from its parent, as a service manager does it. It is ended with
/// this object, if it still runs.
final class ActivatedDaemon {
    let id: pid_t
    private let ended = Event()
    // Written before `ended`.
    nonisolated(unsafe) private var status: Int32 = 0

    /// - Parameters:
    ///   - sockets: become the descriptors from 3 on
    ///   - names: of the sockets
    ///   - log: the file for standard output and standard error
    init(_ configuration: String, sockets: [Socket], names: String, log: String) throws {
        // The shell knows the process id that the daemon will have.
        let script =
            "LISTEN_PID=$$ LISTEN_FDS=\(sockets.count) LISTEN_FDNAMES=\(names)"
            + #" exec "$0" serve "$1" >>"$2" 2>&1"#
        let arguments = ["sh", "-c", script, try Binary.url().path, configuration, log]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Numbers that are not in the way of each other.
        let copies = try sockets.enumerated().map { index, socket in
            let copy = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, Int32(100 + index))
            guard copy >= 0 else { throw Socket.Failure("fcntl") }
            posix_spawn_file_actions_adddup2(&actions, copy, Int32(3 + index))
            return copy
        }
        defer { for copy in copies { close(copy) } }
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var variables = Sanitizer.options.map { strdup("\($0)=\($1)") } + [nil]
        defer { for variable in variables { free(variable) } }
        var id: pid_t = 0
        let code = posix_spawn(&id, "/bin/sh", &actions, nil, &pointers, &variables)
        guard code == 0 else { throw Socket.Failure("posix_spawn: \(code)") }
        self.id = id
        let waiting = UncheckedDaemon(self)
        Thread.detachNewThread { [id, ended] in
            var status: Int32 = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
            waiting.daemon?.status = status
            ended.signal()
        }
    }

    deinit { kill(id, SIGKILL) }

    func signal(_ number: Int32) { kill(id, number) }

    /// Waits for its end; the number of a signal is negative.
    func exitStatus() throws -> Int32 {
        try ended.wait(for: "the end of the process")
        ended.signal()
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : -signal
    }

    private final class UncheckedDaemon: @unchecked Sendable {
        weak var daemon: ActivatedDaemon?

        init(_ daemon: ActivatedDaemon) { self.daemon = daemon }
    }
}
