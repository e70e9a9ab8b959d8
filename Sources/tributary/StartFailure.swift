import ArgumentParser
import Reactor

/// What makes a start impossible: one clear line, and the exit status for it.
enum StartFailure: Error, Sendable {
    case listen(SocketAddress, IOFailure)
    /// The name of a host to listen on has no address.
    case host(String, IOFailure)
    /// The group of a socket's file does not exist.
    case group(String)
    case noSuchFile(String)
    case unreadableFile(String, String)
    case threads
    case internalError(String)

    /// Without the line end.
    var line: String {
        switch self {
        case .listen(let address, .addressInUse):
            "cannot listen on \(address): address already in use (is another tributary running?)"
        case .listen(let address, let failure): "cannot listen on \(address): \(failure)"
        case .host(let host, let failure): "cannot listen on \(host): \(failure)"
        case .group(let name): "there is no group '\(name)' for the socket's file"
        case .noSuchFile(let path): "\(path): no such file"
        case .unreadableFile(let path, let words): "\(path): \(words)"
        case .threads: "the system has no room for one more thread"
        case .internalError(let what): "internal error: \(what)"
        }
    }

    /// The same without the path of a file, where one is named otherwise.
    var reason: String {
        switch self {
        case .noSuchFile: "no such file"
        case .unreadableFile(_, let words): words
        case .listen, .host, .group, .threads, .internalError: line
        }
    }

    var status: ExitCode {
        switch self {
        case .listen, .host, .group, .threads: ExitStatus.unavailable
        case .noSuchFile, .unreadableFile: ExitStatus.noInput
        case .internalError: ExitStatus.internalError
        }
    }

    /// What was thrown, told apart from mistakes of ours.
    init(_ error: any Error) {
        self = error as? StartFailure ?? .internalError("\(error)")
    }
}
