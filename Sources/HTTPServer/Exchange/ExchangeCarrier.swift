import Basics
import HTTP

/// The transport of an exchange: a connection of HTTP/1.1 or a stream of HTTP/2. Used by `ExchangeRunner` and the
/// body of its request.
protocol ExchangeCarrier: AnyObject {
    /// The runner has a response, which it stores until the carrier has written it.
    ///
    /// - Parameter closesConnection: the connection must end with this response, in HTTP/1.1
    func responseReady(closesConnection: Bool)

    /// The reader of the request's body starts, pauses, resumes or cancels it. Nothing is delivered
    /// before this returns, unless delivery is resumed.
    func bodyDemandChanged(to demand: BodyDemand)

    /// Since when the exchange waits for its client; nil if it does not.
    func clientWait(now: Instant) -> ClientWait?

    /// Ends the exchange, which waits for its client while a limit is short.
    func endWaiting()

    /// The present time of the loop.
    var now: Instant { get }

    /// Sends an interim response. The final response has not begun.
    func sendInterim(_ status: Status, _ fields: Fields)
}

/// What the reader of a request's body has done.
enum BodyDemand: Equatable {
    /// - Parameter isTimed: the reader itself limits the time for the body
    case started(isTimed: Bool)
    case paused, resumed
    /// The rest is not needed.
    case cancelled
}
