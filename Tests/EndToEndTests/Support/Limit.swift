import Foundation

/// How long a test waits for what has to happen: generous, for a busy machine and a sanitizer; only a
/// failure takes that long.
enum Limit {
    static let seconds = 20.0

    static var date: Date { Date(timeIntervalSinceNow: seconds) }
    static var dispatch: DispatchTime { .now() + seconds }

    /// It did not happen.
    struct Passed: Error, CustomStringConvertible {
        let description: String

        init(_ what: String) { description = "waited \(Limit.seconds) s for \(what)" }
    }
}

/// Something that one thread tells another, once or several times.
final class Event: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func happen() { semaphore.signal() }

    func wait(for what: String) throws {
        guard semaphore.wait(timeout: Limit.dispatch) == .success else { throw Limit.Passed(what) }
    }
}
