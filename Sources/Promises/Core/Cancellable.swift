/// Work that can be stopped.
public protocol Cancellable {
    /// Stops the work, if it is not too late; else does nothing.
    ///
    /// - Parameter cause: why, if there is an error that made it needless; kept in `Cancelled`.
    func cancel(because cause: (any Error)?)
}
