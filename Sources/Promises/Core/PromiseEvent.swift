/// A failure that no handler received.
///
/// The places say where the chain began; they are known for what was made while
/// `PromiseDiagnostics` kept them.
public enum PromiseEvent: Sendable {
    /// A producer went away without settling, so its promise was rejected with
    /// `PromiseError.abandoned`.
    case abandoned(at: CreationSite?)
    /// A rejected promise was released and no handler had ever been attached to it. Once for each
    /// such promise; not for cancellation, and not for what `abandoned` reported.
    case unhandledRejection(any Error, at: CreationSite?)
    /// A shared resolver was used after the promise had been settled, which changed nothing. Not
    /// for a promise that was cancelled: its producer cannot know.
    case resolvedTwice(at: CreationSite?)
    /// An error was silenced on purpose, by the `cauterize` at this place.
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
    /// What the promise is called, if it was given a name.
    public var label: String?

    /// A place in the code, with a name if the promise has one.
    public init(file: StaticString, line: UInt, label: String? = nil) {
        self.file = "\(file)"
        self.line = line
        self.label = label
    }

    /// The place as compilers print it, behind the name if there is one.
    public var description: String {
        let place = "\(file):\(line)"
        return label.map { "\"\($0)\" at \(place)" } ?? place
    }
}
