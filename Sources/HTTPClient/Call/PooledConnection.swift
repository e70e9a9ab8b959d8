import HTTP

/// A connection of a pool, which owns it and decides which calls it gets. HTTP/1.1 has one call at
/// once, HTTP/2 several.
protocol PooledConnection: AnyObject {
    /// Sends the request of a call. The connection must have free capacity.
    func send(_ call: PendingCall)

    /// Ends a call of this connection, whose response is not needed.
    func cancel(_ call: PendingCall)

    /// It gets no more calls, and ends with its last one; at once if it has none.
    func retire()

    /// Closes the connection and drops its calls without a result. What was not sent is not sent
    /// any more.
    func close()
}

/// Where the response to a call arrives: a connection of HTTP/1.1, a stream of HTTP/2.
protocol ResponseCarrier: AnyObject {
    /// Delivers no further body, as soon as what the backend may already send has arrived.
    func pauseReading()

    /// Continues after `pauseReading`.
    func resumeReading()

    /// Sends the bytes of a tunnel, unchanged.
    func sendTunnel(from source: any BodySource)
}

/// The stream of HTTP/2 that carries a call.
protocol CallStream: AnyObject {
    /// Ends the call, whose response is not needed.
    func cancel()
}
