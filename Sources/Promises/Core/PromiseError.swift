/// What the library itself rejects with.
public enum PromiseError: Error, Sendable, Hashable {
    /// The producer went away without settling.
    case abandoned
    /// A promise was to wait for itself.
    case resolvedWithItself
    /// The owner that handlers were bound to is gone.
    case contextDeallocated
    /// `timeout` ran out.
    case timedOut
    /// `validate` said no.
    case validationFailed
    /// `compactMap` found nothing.
    case noValue
    /// A combinator was given nothing, or a limit below one.
    case badInput
    /// `requiredValue(for:)` was asked for a key that is not there.
    case unknownKey
    /// Blocking would have blocked the handler that ends the wait.
    case waitOnOwnContext
    /// A callback brought neither a value nor an error.
    case invalidCallingConvention
}

/// An error that may mean "stopped on purpose".
public protocol CancellableError: Error {
    /// Whether it does.
    var isCancelled: Bool { get }
}

/// The error of cancelled promises.
public struct Cancelled: CancellableError {
    /// Why, if somebody said so.
    public let cause: (any Error)?

    /// Stopped, for a reason or for none.
    public init(because cause: (any Error)? = nil) {
        self.cause = cause
    }

    /// True: this error is a cancellation.
    public var isCancelled: Bool { true }
}

/// Which errors a handler is asked about.
public enum CatchPolicy: Sendable {
    /// All of them.
    case allErrors
    /// All but cancellation, which means that nobody wants an answer.
    case allErrorsExceptCancellation

    @usableFromInline
    func covers(_ error: any Error) -> Bool {
        switch self {
        case .allErrors: true
        case .allErrorsExceptCancellation: !error.isCancellation
        }
    }
}

extension Error {
    /// Whether this error only says that work was stopped on purpose.
    @usableFromInline
    var isCancellation: Bool {
        if let error = self as? any CancellableError { return error.isCancelled }
        return self is CancellationError
    }
}
