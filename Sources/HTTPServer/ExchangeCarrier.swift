/// What carries an exchange: a connection of HTTP/1.1, or one stream of HTTP/2. An `ExchangeRunner`
/// and the body of its request speak to it through this.
protocol ExchangeCarrier: AnyObject {
    /// The runner has a response, which it keeps until the carrier has written it.
    ///
    /// - Parameter isLast: the connection has to end with it
    func responseReady(isLast: Bool)

    /// The reader of the request's body wants more of it, or no more. Nothing is delivered before
    /// this returns, unless delivery is resumed.
    func bodyDemandChanged(to demand: BodyDemand)
}

/// What the reader of a request's body wants of it.
enum BodyDemand {
    case wanted, paused, resumed, refused
}
