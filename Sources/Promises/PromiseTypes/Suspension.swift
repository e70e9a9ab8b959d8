/// A task that waits for a promise: resumed once, by the outcome or by its own cancellation,
/// whichever comes first.
///
/// Shared by the task, the promise's handler and the handler of the task's cancellation, each on a
/// thread of its own.
final class Suspension<Value: Sendable>: Sendable {
    private enum Progress {
        case running
        case suspended(CheckedContinuation<Value, any Error>)
        case over
    }

    private let progress = Guarded(Progress.running)

    /// Stores the continuation of the suspended task. False if the task was cancelled before.
    func begin(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
        progress.withLock { progress in
            guard case .running = progress else { return false }
            progress = .suspended(continuation)
            return true
        }
    }

    /// Returns the continuation that the caller must resume; nil if the task is not suspended yet
    /// or another caller resumes it. Not resumed here under the lock, because an executor may run
    /// the task inside the call.
    func end() -> CheckedContinuation<Value, any Error>? {
        progress.withLock { progress in
            defer { progress = .over }
            guard case .suspended(let continuation) = progress else { return nil }
            return continuation
        }
    }
}
