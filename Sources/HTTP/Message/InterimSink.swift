/// Receives the interim responses to a request (RFC 9110 15.2): the server's side of its exchange.
package protocol InterimSink: AnyObject {
    /// Sends an interim response, unless the final response has begun or the client's version of HTTP
    /// has none.
    func sendInterim(_ status: Status, _ fields: Fields)
}
