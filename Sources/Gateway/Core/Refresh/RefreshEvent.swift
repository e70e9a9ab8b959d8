/// What the owner of a `RefreshedValue` logs: the changes of its state, not each fetch.
enum RefreshEvent<Value> {
    /// The first failure of a series.
    ///
    /// - Parameter hasValue: a former value is there, also if it must not be used any more
    case failed(any Error, hasValue: Bool)
    /// The first success after a series of failures.
    case recovered
    case changed(Value)
}
