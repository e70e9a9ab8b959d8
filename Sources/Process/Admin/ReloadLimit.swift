import Basics

/// At most one reload per second through the admin address.
///
/// A reload reads all files and compiles a plan on every worker, so a client that reloads in a loop
/// could keep the process busy.
struct ReloadLimit: Sendable {
    private static let interval = Duration.seconds(1)
    private var last: Instant?

    /// Nil if a reload may start now, otherwise the time to wait.
    mutating func wait(at now: Instant) -> Duration? {
        if let last, now - last < Self.interval { return Self.interval - (now - last) }
        last = now
        return nil
    }
}
