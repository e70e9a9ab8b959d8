package import Basics
package import Reactor

/// Why a command got no reply, or the store is not used.
package enum RESPFailure: Error, Equatable {
    /// The network failed.
    case network(IOFailure)
    /// The store ended the connection in an orderly way.
    case ended
    /// No reply to a command within the timeout.
    case timedOut
    /// No usable connection within the time for connecting.
    case connectTimeout
    /// The host's name has no address.
    case noAddress
    /// The store sent something that is not RESP2, or is beyond a limit.
    case malformed(RESPError)
    /// The store sent a reply that no command caused.
    case unsolicited(Bytes)
    /// The store sent another reply than the command has.
    case unexpected
    /// The store replied with an error.
    case refused(Bytes)
    /// The store is down, so nothing was sent.
    case down
    /// This side closed the connection.
    case closed
}

extension RESPFailure: CustomStringConvertible {
    /// For operators; it contains texts that the store sent.
    package var description: String {
        switch self {
        case .network(let failure): "\(failure)"
        case .ended: "the store closed the connection"
        case .timedOut: "no reply in time"
        case .connectTimeout: "no connection in time"
        case .noAddress: "the name has no address"
        case .malformed(let error): "malformed reply: \(error)"
        case .unsolicited(let text): "unsolicited reply: \(String(text))"
        case .unexpected: "a reply that does not belong to its command"
        case .refused(let text): String(text)
        case .down: "the store is down"
        case .closed: "closed"
        }
    }
}

extension RESPFailure {
    /// A failure of the network, or of one of this module's promises.
    init(_ error: any Error) {
        self =
            switch error {
            case let failure as RESPFailure: failure
            case let failure as IOFailure: .network(failure)
            default: .closed
            }
    }
}

/// The errors of a store that mean more than the failure of one command.
package enum RESPErrorCode {
    /// Whether the store cannot serve commands like this one now: it loads its data, is a replica,
    /// is full, or refuses the credentials or the connection.
    package static func isOutage(_ error: Bytes) -> Bool {
        codes.contains { error.hasPrefix($0) }
            || error.hasPrefix("ERR max number of clients") || isOutageOfScript(error)
    }

    /// Before Redis 7 the error of a command in a script is quoted: `ERR Error running script
    /// (call to f_1): @user_script:9: @user_script: 9: -READONLY You can't write`.
    private static func isOutageOfScript(_ error: Bytes) -> Bool {
        guard error.hasPrefix("ERR Error running script") else { return false }
        let text = String(error)
        return codes.contains { text.contains(": -\($0)") }
    }

    /// Whether the store does not know the script, as after a restart.
    package static func isUnknownScript(_ error: Bytes) -> Bool { error.hasPrefix("NOSCRIPT") }

    private static let codes = [
        "LOADING", "READONLY", "OOM", "MISCONF", "MASTERDOWN", "NOAUTH", "WRONGPASS", "NOPERM",
        // A cluster, which needs a client of another kind.
        "CLUSTERDOWN", "MOVED", "ASK", "CROSSSLOT",
    ]
}

extension Bytes {
    fileprivate func hasPrefix(_ text: String) -> Bool {
        let prefix = text.utf8
        guard count >= prefix.count else { return false }
        return self[0..<prefix.count] == Bytes(text)
    }
}
