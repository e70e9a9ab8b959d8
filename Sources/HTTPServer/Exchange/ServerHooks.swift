package import Basics
package import HTTP
package import Promises
package import Reactor

/// The callbacks of an embedder, for its access log, its metrics and its rejections. Called on the
/// worker's thread. Hooks that are not set do nothing.
package struct ServerHooks {
    /// Makes the exchange of a request whose head is complete.
    package var makeExchange: (consuming ExchangeStart) -> Exchange = { Exchange($0) }

    /// The exchange of a request ended: its response was written, its client disconnected, or the
    /// server ended. Called once for every request.
    package var exchangeEnded: (consuming ExchangeEnd) -> Void = { _ in }

    /// Input that never became a request was rejected.
    package var requestRefused: (RefusedInput) -> Void = { _ in }

    /// A TLS handshake with a client failed, or took too long.
    package var handshakeFailed: (IOFailure, SocketAddress?) -> Void = { _, _ in }

    /// Passes a rejection through the embedder's chain: the server's own response to invalid input,
    /// or to a request that exceeds a limit or fails. Nil sends it unchanged.
    ///
    /// Called with the request if there is one, else with the head of a GET or HEAD of `/` in its
    /// place. If the result fails, the response is sent unchanged.
    package var rejection: ((Response, Request, Exchange) -> LocalPromise<Response>)?

    /// Whether an address belongs to a proxy, which many clients share.
    package var isProxy: (SocketAddress) -> Bool = { _ in false }

    package init() {}

    /// A rejection of input that never became a request.
    package struct RefusedInput {
        package let status: Status
        /// For the access log.
        package let reason: StaticString
        /// The id that the client got.
        package let id: RequestID
        package let peer: PeerAddress
    }

    /// How an exchange ended.
    package struct ExchangeEnd {
        package let exchange: Exchange
        package let request: RequestHead
        /// For the log: the status of the response, or one of those below.
        package let status: UInt16
        /// Bytes of the body that were written.
        package let bodyBytes: Int
        /// The response was truncated behind its head.
        package let isTruncated: Bool
        /// When its last byte was written, or when it was given up.
        package let endedAt: Instant

        /// The client disconnected before the response.
        package static let clientGone: UInt16 = 499
        /// The server closed the connection before the response, because the time for draining had
        /// passed. No status was sent.
        package static let cutOff: UInt16 = 0
    }
}
