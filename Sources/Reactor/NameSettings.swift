/// The limits of name look-ups, per process.
package struct NameSettings: Equatable, Sendable {
    /// Look-ups that run at the same time; further names wait in order.
    ///
    /// 64: each one occupies a thread until the name service answers or the system gives up, and a
    /// configuration with more names that hang at once is unlikely.
    package var runningMax = 64

    /// How long a name that does not exist is not looked up again.
    ///
    /// 3 s: a request for it costs no look-up of its own, and a name that appears is soon found.
    package var missingFor = Duration.seconds(3)

    /// How long a name is not looked up again after the name service failed.
    ///
    /// 1 s: such a failure often ends soon.
    package var failedFor = Duration.seconds(1)

    /// The least time between two look-ups that are made because no address accepted a connection.
    ///
    /// 1 s: else each request to a host that is down would cost a look-up.
    package var suspectedEvery = Duration.seconds(1)

    package init() {}
}
