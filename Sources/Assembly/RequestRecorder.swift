import Basics
import Gateway
import HTTP
import HTTPServer
import Reactor

/// Reads the record of every request when it has ended: for the metrics, for its line in the access
/// log, and for its spans. On a worker.
final class RequestRecorder {
    private let loop: any Loop
    private let log: Log
    private var accessLog: AccessLog?
    private let spans: SpanBacklog
    private let deliverTraces: (([TracedRequest]) -> Void)?
    private var traces: TraceRecorder?
    private let records = RequestRecordPool()
    private var slots = MetricSlots()
    private(set) var meter = WorkerMetrics()
    /// Nil without an admin address, where nothing could read it.
    private(set) var recent: RecentRequests?

    var onRequestEnded: ((RequestContext, _ status: UInt16, RequestOutcome) -> Void)?

    /// - Parameters:
    ///   - spans: the backlog of the process
    ///   - traces: receives sampled requests; nil if nothing exports them
    init(
        loop: any Loop, log: Log, spans: SpanBacklog, traces: (([TracedRequest]) -> Void)?
    ) {
        self.loop = loop
        self.log = log
        self.spans = spans
        deliverTraces = traces
    }

    /// Adds the endpoints and calls of a plan, of which it returns the numbers, and replaces the
    /// access log and the traces.
    func adopt(_ plan: Plan) -> MetricSlots.Numbers {
        accessLog = plan.process.log.access ? AccessLog(plan, to: log) : nil
        traces?.flush()
        traces = plan.traces.flatMap { traces in
            deliverTraces.map {
                TraceRecorder(
                    traces, proxies: plan.proxies.isEmpty ? nil : plan.proxies, loop: loop,
                    backlog: spans, deliver: $0)
            }
        }
        let numbers = slots.numbers(of: plan)
        meter.adopt(slots)
        if plan.process.admin != nil, recent == nil { recent = RecentRequests() }
        recent?.adopt(plan, numbers: numbers.endpoints)
        return numbers
    }

    /// No request ends any more.
    func close() {
        traces?.flush()
        traces = nil
    }

    /// The hooks through which the server makes and reports requests.
    var hooks: ServerHooks {
        var hooks = ServerHooks()
        hooks.makeExchange = { [records] in RequestContext($0, records: records) }
        hooks.exchangeEnded = { [self] in ended($0) }
        hooks.requestRefused = { [self] in refused($0) }
        return hooks
    }

    /// By the number of the endpoint, also of those that a reload has removed.
    var endpointNames: [String] { slots.endpointNames }

    /// A request in flight, for the admin page.
    func state(of context: RequestContext) -> RequestState {
        RequestState(
            id: context.id.description,
            endpoint: context.endpoint.map { slots.endpointNames[$0] } ?? "",
            age: loop.now - context.began,
            hidesTiming: context.endpoint.map { slots.isPadded[$0] } ?? false,
            wait: RequestWait(context.record, at: loop.now))
    }

    private func ended(_ ended: consuming ServerHooks.ExchangeEnd) {
        let end = RequestEnd(ended)
        let (context, outcome) = (end.context, end.outcome)
        let record = context.record
        meter.count(
            record, endpoint: context.endpoint,
            CountedEnd(
                end.status, outcome, Exemplar(context.trace, at: loop.now),
                over: end.request.version, bodyBytes: end.bodyBytes))
        recent?.record(context, status: end.status, outcome)
        if let reason = context.refusal { meter.refusals.count(reason) }
        onRequestEnded?(context, end.status, outcome)
        if accessLog == nil && traces == nil { return }
        let duration = record.duration ?? .zero
        accessLog?.write(end, after: duration, loop.entropy)
        traces?.record(end, after: duration)
    }

    private func refused(_ input: ServerHooks.RefusedInput) {
        meter.countRefusal(input.status.code)
        recent?.recordRefusal(at: loop.now.nanoseconds)
        accessLog?.write(input)
    }
}
