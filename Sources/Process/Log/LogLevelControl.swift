import Basics
import Reactor

/// The log level of the process: the configured level, or another one for a limited time.
///
/// Owned by the daemon, on the control loop. It needs only a `Loop`, so tests run it in virtual time.
final class LogLevelControl {
    /// The longest time for a change: a level that is not changed back fills the disk for at most a
    /// day.
    static let durationMax = Duration.seconds(24 * 3600)

    /// The default time for a change.
    static let defaultDuration = Duration.seconds(600)

    /// The level of the configuration.
    private(set) var configured: Log.Level
    /// The level that holds for a limited time.
    private(set) var temporary: Log.Level?

    private let loop: any Loop
    private let log: Log
    private var expiry: Timer?

    /// Called with the temporary level, nil after its end; passes it to the workers.
    var onChange: (Log.Level?) -> Void = { _ in }

    /// - Parameter log: the log of the control loop
    init(_ configured: Log.Level, loop: any Loop, log: Log) {
        self.configured = configured
        self.loop = loop
        self.log = log
    }

    /// A reload: a temporary level stays until its end.
    func configure(_ level: Log.Level) {
        configured = level
        log.level = temporary ?? level
    }

    /// Changes the level for a time; a second change replaces the first.
    func change(to level: Log.Level, for duration: Duration) {
        expiry?.cancel()
        temporary = level
        let former = log.level
        // Written at the more talkative of the two levels.
        log.level = min(former, level)
        log.write(.warning, "log level changed") { line in
            line.add(literal: "to", level.name)
            line.add(milliseconds: "ms", duration)
        }
        log.level = level
        onChange(level)
        expiry = loop.timer(after: duration) { [unowned self] in restore() }
    }

    /// Cancels the timer of the change, because the process ends.
    func stop() {
        expiry?.cancel()
        expiry = nil
    }

    private func restore() {
        expiry = nil
        temporary = nil
        log.level = min(configured, log.level)
        log.write(.warning, "log level restored") { [configured] in
            $0.add(literal: "to", configured.name)
        }
        log.level = configured
        onChange(nil)
    }
}
