import Glibc

/// Why the process cannot become a daemon: one line for the operator.
package enum ServiceFailure: Error, Equatable, Sendable {
    /// A file that the process writes cannot be opened.
    case file(String, errno: CInt)
    /// Another process holds the pid file.
    case running(pidFile: String, pid: String)
    /// An inherited descriptor is of no use.
    case socket(name: String, reason: String)
    case fork(errno: CInt)

    package var line: String {
        switch self {
        case .file(let path, let code): "\(path): \(Self.words(code))"
        case .running(let path, let pid): "\(path): process \(pid) is running"
        case .socket(let name, let reason): "inherited socket '\(name)': \(reason)"
        case .fork(let code): "cannot start a background process: \(Self.words(code))"
        }
    }

    static func words(_ code: CInt) -> String { unsafe String(cString: strerror(code)) }
}
