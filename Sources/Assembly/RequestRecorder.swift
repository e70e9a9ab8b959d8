import Basics
import Gateway
import HTTP
import HTTPServer
import Reactor

/// Reads the record of every request when it has ended: for the metrics, and for its line in the
/// access log. On a worker.
final class RequestRecorder {
    private let loop: any Loop
    private let log: Log
    private var accessLog: AccessLog?
    private var endpoints = EndpointNumbers()
    private(set) var meter = WorkerMetrics(endpointNames: [])

    var onRequestEnded: ((Exchange, _ status: UInt16, RequestOutcome) -> Void)?

    init(loop: any Loop, log: Log) {
        self.loop = loop
        self.log = log
    }

    /// Adds the endpoints of a plan, of which it returns the numbers, and replaces the access log.
    func adopt(_ plan: Plan) -> [Int] {
        accessLog = plan.process.log.access ? AccessLog(plan, to: log) : nil
        let numbers = endpoints.numbers(of: plan)
        meter.addEndpoints(named: endpoints.names)
        return numbers
    }

    /// The hooks through which the server reports requests.
    var hooks: ServerHooks {
        var hooks = ServerHooks()
        hooks.exchangeEnded = { [self] in ended($0) }
        hooks.requestRefused = { [self] in refused($0, $1) }
        return hooks
    }

    /// A request in flight, for the admin page.
    func state(of exchange: Exchange) -> RequestState {
        RequestState(
            id: exchange.id.description,
            endpoint: exchange.endpoint.map { endpoints.names[$0] } ?? "",
            age: loop.now - exchange.began,
            hidesTiming: exchange.endpoint.map { endpoints.isPadded[$0] } ?? false,
            wait: exchange.record.map { RequestWait($0, at: loop.now) })
    }

    private func ended(_ end: ServerHooks.ExchangeEnd) {
        let duration = end.exchange.record?.duration ?? .zero
        meter.count(endpoint: end.exchange.endpoint, status: end.status, after: duration)
        onRequestEnded?(end.exchange, end.status, end.outcome)
        accessLog?.write(end, after: duration, loop.entropy)
    }

    private func refused(_ status: Status, _ client: SocketAddress?) {
        meter.count(endpoint: nil, status: status.code, after: .zero)
        accessLog?.writeRefusal(status, client: client)
    }
}
