import Basics
import HTTP
import Promises
import Reactor

/// A request that is with the service, until its answer is written or it is given up.
///
/// A class, so that looking at it counts one reference and not each of its request's.
final class RunningExchange {
    let request: Request
    let exchange: Exchange
    /// What the service promised; cancelled when the request is given up.
    var answer: Local<Response>?
    /// What it gave.
    var response: Response?
    /// Whether it counts as in flight.
    var hasPermit = false

    init(_ request: Request, _ exchange: Exchange) {
        self.request = request
        self.exchange = exchange
    }
}

extension Exchange {
    /// A new exchange for a request: named by its client if that gave it a sane name, part of the
    /// client's trace if it told one.
    convenience init(_ head: RequestHead, on loop: any Loop, client: String?, budget: ByteBudget) {
        let id = head.fields[.requestID].flatMap { RequestID(client: $0.bytes.span) }
        let trace = head.fields[.traceparent].flatMap { TraceContext(traceparent: $0.bytes.span) }
        self.init(
            id: id ?? RequestID(from: loop.entropy),
            trace: trace ?? TraceContext(from: loop.entropy),
            core: loop.core, began: loop.now, client: client, budget: budget)
    }
}
