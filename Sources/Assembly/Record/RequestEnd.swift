import Gateway
import HTTP
import HTTPServer

/// How a request ended, for the metrics, its line in the access log, and its spans.
struct RequestEnd {
    /// Its record is complete; the record may serve another request after the recorder returns.
    let context: RequestContext
    let request: RequestHead
    /// For the log: the status of the response, or one of those that `ServerHooks.ExchangeEnd` adds.
    let status: UInt16
    /// Bytes of the body that were written.
    let bodyBytes: Int
    let outcome: RequestOutcome

    init(_ end: ServerHooks.ExchangeEnd) {
        context = end.exchange.context
        request = end.request
        status = end.status
        bodyBytes = end.bodyBytes
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
    }
}
