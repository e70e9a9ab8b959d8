import Gateway
import HTTP
import HTTPClient

/// Who is at fault for the end of a call, for operators: its kind of failure and the class of its status
/// decide.
enum CallEnd: Sendable, Equatable {
    case good
    /// A 4xx: the backend works, and the request of the client is wrong.
    case rejected
    case failed
    /// The gateway did not make the call, or cancelled it, which says nothing about the backend.
    case none

    /// - Parameter status: of the response that decided; 0 without one
    init(_ outcome: CallRecord.Outcome, status: UInt16) {
        switch outcome {
        case .none, .failed(.skipped), .failed(.cancelled): self = .none
        // Passed through, or accepted: the circuit breaker counts it, too.
        case .succeeded: self = status >= 500 ? .failed : .good
        case .failed(.unexpectedStatus) where 400...499 ~= status: self = .rejected
        case .failed: self = .failed
        }
    }
}
