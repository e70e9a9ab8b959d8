/// The limits of name look-ups, for each process.
package struct NameSettings: Equatable, Sendable {
    /// Look-ups that run at the same time; further names are queued in order.
    ///
    /// 64: each look-up occupies a thread until the name service responds or the system times out,
    /// and a configuration rarely has more names that hang at once.
    package var runningMax = 64

    /// How long the result that a name does not exist is cached.
    ///
    /// 3 s: requests for the name cause no look-up each, and a new name is soon found.
    package var notFoundTTL = Duration.seconds(3)

    /// How long a failure of the name service is cached.
    ///
    /// 1 s: such failures are often short.
    package var failureTTL = Duration.seconds(1)

    /// The least time between two look-ups that follow because no address accepted a connection.
    ///
    /// 1 s: otherwise each request to a host that is down would cause a look-up.
    package var unreachableInterval = Duration.seconds(1)

    package init() {}
}
