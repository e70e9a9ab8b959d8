import Basics
import HTTP

@testable import HTTPClient

/// An exchange that notes what its attempts report.
final class RecordingExchange: Exchange, AttemptObserver {
    private(set) var events: [String] = []

    func attemptSent(
        _ attempt: Int, _ version: HTTPVersion, bodyBytes: Int, reusingConnection: Bool,
        at now: Instant
    ) {
        events.append("\(attempt) sent \(version), reusing: \(reusingConnection)")
    }

    func attemptAnswered(_ attempt: Int, status: UInt16, at now: Instant) {
        events.append("\(attempt) answered \(status)")
    }

    func attemptCompleted(_ attempt: Int, bodyBytes: Int, at now: Instant) {
        events.append("\(attempt) completed with \(bodyBytes)")
    }

    func attemptFailed(_ attempt: Int, _ failure: AttemptFailure, at now: Instant) {
        switch failure {
        case .connection(let failure): events.append("\(attempt) failed: \(failure.kind)")
        case .timedOut: events.append("\(attempt) timed out")
        case .cancelled: events.append("\(attempt) cancelled")
        }
    }
}
