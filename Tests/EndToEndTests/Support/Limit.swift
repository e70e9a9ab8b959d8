import Foundation

/// The maximum time that a test waits for an event: generous, for busy machines and sanitizers.
/// Only a failing test takes that long.
enum Limit {
    static let seconds = 20.0

    static var date: Date { Date(timeIntervalSinceNow: seconds) }
    static var dispatch: DispatchTime { .now() + seconds }

    /// The event did not happen in time.
    struct Passed: Error, CustomStringConvertible {
        let description: String

        init(_ what: String) { description = "waited \(Limit.seconds) s for \(what)" }
    }
}

/// A signal from one thread to another, once or several times.
final class Event: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func signal() { semaphore.signal() }

    func wait(for what: String) throws {
        guard semaphore.wait(timeout: Limit.dispatch) == .success else { throw Limit.Passed(what) }
    }
}
