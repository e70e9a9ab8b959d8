package import Basics

/// At most one reload per second through the admin address.
///
/// A reload reads all files and makes a plan on every worker, so a client in a loop could keep the
/// process busy with nothing else.
package struct ReloadLimit: Sendable {
    private static let interval = Duration.seconds(1)
    private var last: Instant?

    package init() {}

    /// Nil admits a reload now; else the time to wait.
    package mutating func wait(at now: Instant) -> Duration? {
        if let last, now - last < Self.interval { return Self.interval - (now - last) }
        last = now
        return nil
    }
}
