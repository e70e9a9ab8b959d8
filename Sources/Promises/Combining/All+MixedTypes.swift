// The compiler's message for an array whose promises have different types. Without this declaration
// it reports a failed conversion inside the array.

/// Unavailable: promises of different types are listed as arguments, `all(first, second)`. It never
/// runs, so there is nothing to cancel.
@_disfavoredOverload
@available(*, unavailable, message: "for different types of values write all(first, second)")
public func all(_ promises: [any Cancellable]) -> Promise<[any Sendable]> {
    .error(PromiseError.badInput)
}
