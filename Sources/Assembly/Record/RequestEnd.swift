import Gateway
import HTTP
import HTTPServer

/// How a request ended, for the metrics, its line in the access log, and its spans.
struct RequestEnd {
    private let end: ServerHooks.ExchangeEnd
    /// Its record is complete; the record may serve another request after the recorder returns.
    let context: RequestContext
    let outcome: RequestOutcome

    /// Completes the record.
    init(_ end: consuming ServerHooks.ExchangeEnd) {
        let context = end.exchange.context
        context.record.end(at: end.endedAt)
        outcome =
            switch end.status {
            case _ where end.isTruncated:
                context.streamEnd == .clientDisconnected ? .clientGone : .truncated
            case ServerHooks.ExchangeEnd.cutOff: .cutOff
            case ServerHooks.ExchangeEnd.clientGone: .clientGone
            case 500...: .failed
            case 400...: .rejected
            default: context.record.isPartial ? .partial : .ok
            }
        self.context = context
        self.end = end
    }

    var request: RequestHead { end.request }
    /// For the log: the status of the response, or `clientGone` or `cutOff` of `ServerHooks.ExchangeEnd`.
    var status: UInt16 { end.status }
    /// Bytes of the body that were written.
    var bodyBytes: Int { end.bodyBytes }
}
