package import Basics

/// The way from one loop to the names of its process.
///
/// Two conform: that of `UVLoop`, whose process keeps them behind a lock, and that of `SimLoop`.
/// The results of look-ups come back as messages to the loop, which passes them to its
/// `NameResolver`.
package protocol NameSource: AnyObject {
    /// The name has one more holder on this loop.
    func hold(_ host: String)

    /// The name has one holder less.
    func release(_ host: String)

    /// What is known of a held name; starts a look-up where none runs and one is needed.
    ///
    /// - Parameter publishes: whether this loop is to receive the result of the look-up
    func request(
        _ host: String, maxAge: Duration, publishes: Bool, at now: Instant
    ) -> NameAnswer

    /// None of the name's addresses accepted a connection.
    func suspect(_ host: String, at now: Instant)
}
