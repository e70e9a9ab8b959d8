import Basics
import HTTP

/// The limits of requests: whether another one, or another streamed response, may begin.
extension ServerContext {
    /// Unsent bytes of a complete response with which its exchange needs no permit.
    ///
    /// 64 KiB: what the buffer of a socket takes at least, so that no permit depends on how a client
    /// reads a small response, whatever the protocol.
    static let unsentBytesWithoutPermit = 64 * 1024

    /// Why the request of an exchange may not start; nil if it may. Makes room if few permits are left.
    func refusal(of exchange: Exchange) -> ServerLosses.Refusal? {
        guard requestShortage(of: exchange) != .none else { return nil }
        makeRoom?()
        guard requestsInFlight < settings.requestsInFlight else { return .requestsInFlight }
        guard let limit = settings.requestsPerClient, exchange.requestsOfClient >= limit else {
            return nil
        }
        return .requestsPerClient
    }

    /// The shortage of requests in flight, of all clients and of one.
    func requestShortage(of exchange: Exchange) -> Shortage {
        let ofAll = Shortage(of: requestsInFlight, limit: settings.requestsInFlight)
        guard let limit = settings.requestsPerClient else { return ofAll }
        return max(ofAll, Shortage(of: exchange.requestsOfClient, limit: limit))
    }

    var streamShortage: Shortage { Shortage(of: streams, limit: settings.streams) }

    /// Whether another streamed response may begin. Makes room if few may.
    func hasRoomForStream() -> Bool {
        if streamShortage != .none { makeRoom?() }
        return streams < settings.streams
    }
}
