import Promises

/// Carries one thing that cannot be copied to another thread.
final class Parcel<Content: ~Copyable & Sendable>: Sendable {
    private let content: Guarded<Content?>

    init(_ content: consuming Content) {
        self.content = Guarded(consume content)
    }

    /// The content, for the first who asks.
    func open() -> Content? {
        content.withLock { $0.take() }
    }
}
