/// A failure that no handler received.
///
/// The creation sites say where the chain began; they are known for promises that were made while
/// `PromiseDiagnostics` recorded them.
public enum PromiseEvent: Sendable {
    /// A producer was released without settling its promise, which was rejected with
    /// `PromiseError.abandoned`.
    case abandoned(at: CreationSite?)
    /// A rejected promise was released and no handler had ever been attached to it. Reported once
    /// for each such promise; not for cancellations, and not for promises that `abandoned`
    /// reported.
    case unhandledRejection(any Error, at: CreationSite?)
    /// A shared resolver was used after the promise had been settled, which changed nothing. Not
    /// reported for a cancelled promise: its producer cannot know of the cancellation.
    case resolvedTwice(at: CreationSite?)
    /// An error was silenced on purpose, by the `cauterize` at this source location.
    case cauterized(any Error, at: CreationSite)
    /// A thread was about to block in `wait`.
    case blockingWait(at: CreationSite?)
}

/// Where a promise was made.
public struct CreationSite: Sendable, Hashable, CustomStringConvertible {
    /// The file, as `#fileID` has it.
    public let file: String
    /// The line in the file.
    public let line: UInt
    /// The name of the promise, if it has one.
    public var label: String?

    /// A source location, with a name if the promise has one.
    public init(file: StaticString, line: UInt, label: String? = nil) {
        self.file = "\(file)"
        self.line = line
        self.label = label
    }

    /// The source location as compilers print it, after the name if there is one.
    public var description: String {
        let location = "\(file):\(line)"
        return label.map { "\"\($0)\" at \(location)" } ?? location
    }
}
