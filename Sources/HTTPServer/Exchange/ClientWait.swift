import Basics

/// An exchange waits for its client, which does not take the response or does not send the body of the
/// request, at a minimum rate.
struct ClientWait {
    let since: Instant
    /// Whether it holds bytes of a response that count for `buffered_bytes`, and that its connection does
    /// not end itself when they are short.
    let holdsBytes: Bool
}
