import Basics
import HTTP
import Reactor

/// A client's connection as the server sees it, whatever protocol it speaks: the server knows all of
/// them, counts them, lets them end and closes them. What happens with every request stays inside the
/// connection, and so never goes through this protocol.
protocol ServedConnection: AnyObject {
    /// Where it stands in the server's table.
    var slot: Int { get set }

    /// The client that it counts for, where connections are limited per client.
    var countedClient: ClientConnections.Client? { get }

    /// Its requests that are not answered yet.
    var exchanges: [Exchange] { get }

    /// Ends it if it is idle.
    func leaveIdle(_ reason: LeaveReason)

    /// Ends it at once, whatever it is doing.
    func close()

    /// Ends it because its client does not read and memory is short.
    func closeUnread()

    /// Whether it has waited so long for what it waits for.
    func hasWaited(_ duration: Duration, now: Instant) -> Bool

    /// Whether the client reads the output that waits for it, at the minimum rate or faster.
    func readsOutput(now: Instant) -> Bool
}

/// What the server can do with a connection now.
enum Activity {
    /// Nothing: it is at work.
    case busy
    /// It waits for a request, and may be closed where room is needed.
    case idle
    /// Its output waits for the client, and it may be closed where memory is short.
    case unread
}

/// Why an idle connection is ended.
enum LeaveReason {
    case drainRequested
    /// Others need its place.
    case evicted
}
