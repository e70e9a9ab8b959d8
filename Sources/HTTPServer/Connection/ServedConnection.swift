import Basics
import HTTP
import Reactor

/// A client's connection as the server uses it, for any protocol: the server lists, counts, ends
/// and closes connections. Requests are handled inside the connection and never use this protocol.
protocol ServedConnection: AnyObject {
    /// The index in the server's table.
    var slot: Int { get set }

    var acceptance: Acceptance { get }

    /// Its exchanges that have not ended.
    var exchanges: [Exchange] { get }

    /// Calls with the runner of each request.
    func forEachRunner(_ action: (ExchangeRunner) -> Void)

    /// The server will drain: the connection asks its client to use another one.
    func announceDrain()

    /// Ends it if it is idle.
    func leaveIdle(_ reason: LeaveReason)

    /// Ends it at once, in any state.
    func close()

    /// Ends it because its client does not read while memory is short.
    func closeUnread()

    /// Whether its present wait has lasted so long.
    func hasWaited(_ duration: Duration, now: Instant) -> Bool

    /// How long its client has been silent; nil if the gateway is not waiting for it.
    var silence: ClientSilence? { get }

    /// Whether it holds counted memory also while it is idle.
    var holdsMemory: Bool { get }

    /// Whether the client reads the unsent output, at the minimum rate or faster.
    func readsOutput(now: Instant) -> Bool
}

extension ServedConnection {
    func forEachRunner(_ action: (ExchangeRunner) -> Void) {}

    /// Only the admin server closes silent connections, and it has no other protocols than HTTP/1.1.
    var silence: ClientSilence? { nil }

    /// In HTTP/1.1 the next response announces the end of the connection.
    func announceDrain() {}
}

/// The activity of a connection, which determines how the server may end it.
enum Activity {
    /// It serves a request and must not be ended.
    case busy
    /// It waits for a request, and may be closed to make room.
    case idle
    /// Its output is unsent, and it may be closed when memory is short.
    case unread
}

extension ConnectionWait {
    /// The activity of a connection that waits for this.
    var activity: Activity {
        switch self {
        case .firstRequest, .request: .idle
        case .output: .unread
        case .head, .body, .probe, .linger, .briefLinger: .busy
        }
    }
}

/// A client that has sent nothing, or taken nothing of its response, although it was its turn.
struct ClientSilence {
    let since: Instant
    /// It has got a response and may send another request, as a probe does after a while.
    let isBetweenRequests: Bool
}

/// Why an idle connection is ended.
enum LeaveReason {
    case drainRequested
    /// Another connection needs the room.
    case evicted
}
