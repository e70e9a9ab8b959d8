import Basics

/// The variables by which a service manager addresses this process: sd_notify(3), sd_listen_fds(3)
/// and sd_watchdog_enabled(3).
///
/// A plain value of the environment. Variables that are meant for another process, because their
/// process id differs, count as absent: they were inherited from a parent.
package struct ServiceEnvironment: Equatable, Sendable {
    /// The address of the manager's datagram socket; nil without a manager.
    let notifySocket: String?

    /// The longest time between two watchdog messages; nil if the manager expects none.
    let watchdogLimit: Duration?

    /// The names of the sockets that the manager opened, from descriptor `firstSocket` on.
    package let socketNames: [String]

    /// The number of the first inherited descriptor (SD_LISTEN_FDS_START).
    static let firstSocket: CInt = 3

    /// More sockets than any unit has; a larger number is malformed.
    private static let socketsMax = 1024

    /// Reads the variables with `variable`, for the process with this id.
    package init(process: Int32, variable: (String) -> String?) {
        notifySocket = variable("NOTIFY_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
        let id = "\(process)"
        // Without WATCHDOG_PID the limit holds for every process that gets it.
        if variable("WATCHDOG_PID") ?? id == id,
            let microseconds = variable("WATCHDOG_USEC").flatMap({ Int64($0) }), microseconds > 0
        {
            watchdogLimit = .microseconds(microseconds)
        } else {
            watchdogLimit = nil
        }
        let count = variable("LISTEN_FDS").flatMap { Int($0) } ?? 0
        guard variable("LISTEN_PID") == id, (1...Self.socketsMax).contains(count) else {
            socketNames = []
            return
        }
        let names = (variable("LISTEN_FDNAMES") ?? "")
            .split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        socketNames = (0..<count).map { index in
            index < names.count && !names[index].isEmpty ? names[index] : "unknown"
        }
    }
}
