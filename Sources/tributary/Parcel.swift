import Synchronization

/// Carries one thing that cannot be copied to another thread.
final class Parcel<Content: ~Copyable & Sendable>: Sendable {
    private let content: Mutex<Content?>

    init(_ content: consuming Content) {
        self.content = Mutex(consume content)
    }

    /// The content, for the first who asks.
    func open() -> Content? {
        content.withLock { $0.take() }
    }
}
