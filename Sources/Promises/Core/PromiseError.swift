/// The errors that the library itself rejects with or throws.
public enum PromiseError: Error, Sendable, Hashable {
    /// The producer never settled the promise: its resolver was dropped unused.
    case abandoned
    /// A promise would wait for itself, by `then` or `follow`, directly or through a few links.
    /// Longer cycles, and those through combinators of `Promise`s, are not detected.
    case resolvedWithItself
    /// The owner that handlers were bound to by `with(weak:)` is gone.
    case contextDeallocated
    /// `timeout` ran out.
    case timedOut
    /// The check of `validate` returned false.
    case validationFailed
    /// The closure of `compactMap` returned nil.
    case noValue
    /// `firstSettled` was called without promises, `all(_:concurrently:on:_:)` or `retry` with a
    /// number below one, or a `Work` was started twice.
    case badInput
    /// `requiredValue(for:)` was called with an unknown key.
    case unknownKey
    /// `wait(for:)` would have blocked the handler that ends the wait.
    case waitOnOwnContext
    /// A callback passed neither a value nor an error to `resolve(_:_:)`.
    case invalidCallingConvention
}

/// An error that may mean "stopped on purpose", as Swift's `CancellationError` does: `catch` and
/// `recover` skip it unless their policy covers all errors, and diagnostics do not report it.
public protocol CancellableError: Error {
    /// Whether this error is a cancellation.
    var isCancelled: Bool { get }
}

/// The error of cancelled promises. The work and its consumers receive the same error.
///
/// Not Swift's `CancellationError`: that one means that a task must end, and `Promise.get()` throws
/// it when its own task was cancelled. This error means that a promise was cancelled, and carries
/// the cause. A promise that would be rejected with a `CancellationError`, by a handler, a resolver
/// or `async` work, is rejected with this error, and the `CancellationError` is the cause.
public struct Cancelled: CancellableError {
    /// The cause, if one was given.
    public let cause: (any Error)?

    /// A cancellation, with or without a cause: for a producer that stops by itself.
    public init(because cause: (any Error)? = nil) {
        self.cause = cause
    }

    /// True: this error is a cancellation.
    public var isCancelled: Bool { true }
}

/// Which errors a handler receives.
public enum CatchPolicy: Sendable {
    /// All of them.
    case allErrors
    /// All but cancellation, after which no consumer is left: the default of all operators with a
    /// policy.
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
    /// This error, or the `Cancelled` that replaces Swift's `CancellationError` in promises.
    @usableFromInline
    var asRejection: any Error {
        self is CancellationError ? Cancelled(because: self) : self
    }

    /// Whether this error only means that work was stopped on purpose.
    @usableFromInline
    var isCancellation: Bool {
        if let error = self as? any CancellableError { return error.isCancelled }
        return self is CancellationError
    }
}
