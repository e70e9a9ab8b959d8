package import HTTP
package import Promises
package import Reactor

/// What an embedder is told, for its access log and its metrics: one call for every request, on the
/// core's thread. Nothing happens for a hook that is not set.
package struct ServerHooks {
    /// An exchange is over: its answer was written, its client went away, or the server ended.
    package var exchangeEnded: (ExchangeEnd) -> Void = { _ in }

    /// Something that never became a request was refused: what was wrong with it decides the status.
    package var requestRefused: (Status, SocketAddress?) -> Void = { _, _ in }

    /// Passes a response that the server gives itself through the embedder's chain: a rejection of
    /// what is no request, or of a request that finds no room or fails. Nil sends it as it is.
    ///
    /// Called with the request where there is one, else with the head of a GET or HEAD of `/` in its
    /// place. If the result fails, the response is sent as it was.
    package var rejection: ((Response, Request, Exchange) -> LocalPromise<Response>)?

    package init() {}

    /// How an exchange ended.
    package struct ExchangeEnd {
        package let exchange: Exchange
        package let request: RequestHead
        /// As it stands in a log: the answer's status, or one of those below.
        package let status: UInt16
        /// Bytes of the body that were written.
        package let bodyBytes: Int
        /// The response broke off behind its head.
        package let isTruncated: Bool

        /// The client was gone before the answer.
        package static let clientGone: UInt16 = 499
        /// The server closed the connection before the answer, because the time for draining was
        /// over. No status was sent, so none is given.
        package static let cutOff: UInt16 = 0
    }
}
