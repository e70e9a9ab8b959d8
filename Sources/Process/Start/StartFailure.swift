package import Reactor
import System

/// Why the start failed: one line for the operator, and the exit status.
package enum StartFailure: Error, Sendable {
    case listen(SocketAddress, IOFailure)
    /// The host name to listen on could not be resolved.
    case host(String, IOFailure)
    /// The group of a socket's file does not exist.
    case group(String)
    case noSuchFile(String)
    case unreadableFile(String, String)
    case threads
    case service(ServiceFailure)
    case internalError(String)

    /// Without the line end.
    package var line: String {
        switch self {
        case .listen(let address, .addressInUse):
            "cannot listen on \(address): address already in use (is another tributary running?)"
        case .listen(let address, let failure): "cannot listen on \(address): \(failure)"
        case .host(let host, let failure): "cannot listen on \(host): \(failure)"
        case .group(let name): "there is no group '\(name)' for the socket's file"
        case .noSuchFile(let path): "\(path): no such file"
        case .unreadableFile(let path, let reason): "\(path): \(reason)"
        case .threads: "the system cannot create another thread"
        case .service(let failure): failure.line
        case .internalError(let what): "internal error: \(what)"
        }
    }

    /// The same without the path of a file, for output that names the file elsewhere.
    package var reason: String {
        switch self {
        case .noSuchFile: "no such file"
        case .unreadableFile(_, let reason): reason
        case .listen, .host, .group, .threads, .service, .internalError: line
        }
    }

    package var status: CInt {
        switch self {
        case .listen, .host, .group, .threads: SystemExit.unavailable
        case .noSuchFile, .unreadableFile: SystemExit.noInput
        case .service(.file): SystemExit.cannotCreate
        case .service: SystemExit.unavailable
        case .internalError: SystemExit.internalError
        }
    }

    /// Any error that is not a `StartFailure` is an internal error.
    package init(_ error: any Error) {
        self =
            switch error {
            case let failure as StartFailure: failure
            case let failure as ServiceFailure: .service(failure)
            default: .internalError("\(error)")
            }
    }
}
