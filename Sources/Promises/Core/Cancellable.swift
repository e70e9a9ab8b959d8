/// Work that can be stopped.
public protocol Cancellable {
    /// Stops the work if it is not finished; otherwise does nothing.
    ///
    /// - Parameter cause: the error that made the work unnecessary, if there is one; stored in
    ///   `Cancelled`.
    func cancel(because cause: (any Error)?)
}
