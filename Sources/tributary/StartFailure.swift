import ArgumentParser
import Reactor

/// What makes a start impossible: one clear line, and the exit status for it.
enum StartFailure: Sendable {
    case listen(SocketAddress, IOFailure)
    case address(String)
    case threads
    case internalError(String)

    private var line: String {
        switch self {
        case .listen(let address, .addressInUse):
            "cannot listen on \(address): address already in use (is another tributary running?)"
        case .listen(let address, let failure): "cannot listen on \(address): \(failure)"
        case .address(let host):
            "cannot listen on \(host): write an address, such as 127.0.0.1, 0.0.0.0 or [::]"
        case .threads: "the system has no room for one more thread"
        case .internalError(let what): "a mistake of tributary's: \(what)"
        }
    }

    private var status: ExitCode {
        switch self {
        case .listen, .address, .threads: ExitStatus.unavailable
        case .internalError: ExitStatus.internalError
        }
    }

    /// Prints the line; gives the status to end with.
    func reported() -> ExitCode {
        StandardStreams.printError("tributary: \(line)\n")
        return status
    }
}
