import Promises

/// Transfers a value that cannot be copied to another thread.
final class TransferBox<Content: ~Copyable & Sendable>: Sendable {
    private let content: Guarded<Content?>

    init(_ content: consuming Content) {
        self.content = Guarded(consume content)
    }

    /// The content for the first caller, nil for all later ones.
    func take() -> Content? {
        content.withLock { $0.take() }
    }
}
