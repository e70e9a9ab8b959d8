import Assembly
import Basics
import Gateway
import HTTP
import HTTPClient
import Promises
import Reactor

/// Sends the sampled requests of all workers to the collector that `traces` names, as OTLP/HTTP:
/// in batches, one at a time, repeated as the protocol says.
///
/// Confined to the control loop, for as long as the process runs. It never waits: spans that the
/// collector does not accept are dropped and counted, and `SpanBacklog` bounds those that wait.
final class TraceExporter {
    private let loop: any Loop
    private let log: Log
    private let backlog: SpanBacklog
    private let version: String
    private let pools: ConnectionPools
    /// `service.instance.id`
    private let instance: String
    /// Nil without `traces`.
    private var destination: Destination?
    private var queue = SpanQueue()
    private var phase = Phase.idle
    private var retry = ExportRetry()
    /// The last export failed, which the log has.
    private var isFailing = false
    private var isClosing = false
    private var flushed: LocalResolver<Void>?
    private var spans = SpanCounts()

    private struct Destination {
        let collector: TracePlan.Collector
        let request: OTLPRequest
        let pool: Pool
        /// For one attempt.
        let timeout: Duration
    }

    private enum Phase {
        case idle
        /// Waits for more requests.
        case collecting(Timer)
        case sending(Export, LocalPromise<Void>)
        /// Waits for the next attempt.
        case waiting(Export, Timer)
    }

    /// A batch in the form in which it is sent.
    private struct Export {
        let body: Bytes
        let encoding: Config.Traces.Encoding
        let spans: Int
        /// When its oldest request arrived.
        let arrived: Instant
    }

    /// The spans of a batch.
    private static let batchSpans = 512
    /// How long the first request of a batch waits for others.
    private static let batchDelay = Duration.seconds(1)
    /// How long spans wait for a collector that fails: older ones say little about the present.
    private static let ageMax = Duration.seconds(300)
    /// Of a response, in bytes.
    fileprivate static let responseBytesMax = 64 << 10

    /// - Parameter version: of this program
    init(loop: any Loop, log: Log, backlog: SpanBacklog, version: String) {
        self.loop = loop
        self.log = log
        self.backlog = backlog
        self.version = version
        pools = ConnectionPools(loop: loop)
        instance = loop.entropy.nextUUID()
    }

    /// Since the start of the process.
    var counts: SpanCounts {
        var counts = spans
        counts.queueFull = backlog.refusedCount
        return counts
    }

    /// Sends to the collector of a plan from now on. Without one, the spans that wait are dropped.
    func configure(_ plan: TracePlan?) {
        destination = plan.map { plan in
            var settings = PoolSettings()
            settings.security = plan.collector.security
            // One export runs at a time.
            settings.maxIdle = 1
            // Before collectors close an idle connection, which would fail the next export.
            settings.idleTimeout = .seconds(5)
            return Destination(
                collector: plan.collector,
                request: OTLPRequest(
                    resource: OTLPRequest.Resource(
                        service: plan.service, version: version, instance: instance,
                        configured: plan.resource),
                    encoding: plan.collector.encoding),
                pool: pools.pool(for: plan.collector.origin, settings: settings),
                timeout: plan.collector.timeout)
        }
        pools.retireUnused()
        if destination == nil {
            dropAll()
        } else if case .waiting(let export, let timer) = phase {
            // The new collector may accept what the former one does not.
            timer.cancel()
            retry.reset()
            attempt(export)
        }
    }

    /// Takes over the sampled requests of a worker.
    func receive(_ requests: [TracedRequest]) {
        queue.append(requests, at: loop.now)
        guard destination != nil, !isClosing || !isIdle else { return dropQueue() }
        schedule()
    }

    private var isIdle: Bool { if case .idle = phase { true } else { false } }

    /// The time that the last export of the process has.
    var flushLimit: Duration { destination == nil ? .zero : .milliseconds(1_500) }

    /// Exports what waits, for at most a time; the rest is dropped. Fulfils when all is done and the
    /// connections are closed.
    func close(within limit: Duration) -> LocalPromise<Void> {
        isClosing = true
        let resolver = LocalResolver<Void>(on: loop.local)
        let promise = resolver.promise
        flushed = consume resolver
        switch phase {
        case .idle, .sending: break
        case .collecting(let timer):
            timer.cancel()
            phase = .idle
        case .waiting(let export, let timer):
            timer.cancel()
            attempt(export)
        }
        if isIdle { sendNext() }
        return promise.timeout(limit).recover { [self] _ in
            dropAll()
            return loop.local.value(())
        }
        .then { [self] in pools.close() }
    }

    /// Drops what waits, so that a `close` that runs ends now.
    func stop() {
        dropAll()
        flushed.take()?.fulfill(())
    }

    // MARK: Batches

    private func schedule() {
        switch phase {
        case .idle where queue.spans < Self.batchSpans && !isClosing:
            guard !queue.isEmpty else { return }
            phase = .collecting(
                loop.timer(after: Self.batchDelay) { [unowned self] in collected() })
        case .idle: sendNext()
        case .collecting(let timer) where queue.spans >= Self.batchSpans:
            timer.cancel()
            sendNext()
        case .collecting, .sending, .waiting: break
        }
    }

    private func collected() {
        phase = .idle
        sendNext()
    }

    /// Exports the oldest requests. Call it only while no other export is in progress.
    private func sendNext() {
        phase = .idle
        dropExpired()
        guard let destination, let batch = queue.takeBatch(spansMax: Self.batchSpans) else {
            if isClosing { flushed.take()?.fulfill(()) }
            return
        }
        let body = destination.request.body(of: batch.requests, loop.entropy)
        attempt(
            Export(
                body: body, encoding: destination.collector.encoding, spans: batch.spans,
                arrived: batch.arrived))
    }

    private func attempt(_ export: Export) {
        guard let destination else { return }
        let request = destination.collector.request(export.body, export.encoding, version)
        let response = destination.pool.send(request).timeout(destination.timeout)
        let attempt = response.mapResult { [unowned self] result in
            handle(ExportResult(result, at: loop.unixTime), of: export)
        }
        phase = .sending(export, attempt)
    }

    // MARK: Results

    private func handle(_ result: ExportResult, of export: Export) {
        // It was dropped meanwhile.
        guard case .sending = phase else { return }
        switch result {
        case .accepted(let rejected, let message):
            retry.reset()
            let rejected = min(rejected, export.spans)
            spans.exported += export.spans - rejected
            spans.rejected += rejected
            finish(export)
            if rejected > 0 {
                reportFailure(message.isEmpty ? "the collector rejected spans" : message)
            } else {
                reportSuccess()
            }
        case .refused(let problem):
            retry.reset()
            spans.rejected += export.spans
            finish(export)
            reportFailure(problem)
        case .temporary(let problem, let retryAfter):
            reportFailure(problem)
            return wait(for: export, retryAfter)
        }
        phase = .idle
        schedule()
    }

    private func wait(for export: Export, _ retryAfter: Duration?) {
        let delay = retry.wait(retryAfter: retryAfter, loop.entropy)
        // While the process ends, a failed export is not repeated: the time does not suffice.
        guard !isClosing, loop.now + delay - export.arrived <= Self.ageMax else {
            spans.undelivered += export.spans
            finish(export)
            if isClosing { dropQueue() }
            return sendNext()
        }
        phase = .waiting(
            export, loop.timer(after: delay) { [unowned self] in attempt(export) })
        dropExpired()
    }

    private func finish(_ export: Export) { backlog.release(export.spans) }

    private func reportFailure(_ problem: String) {
        guard !isFailing else { return }
        isFailing = true
        log.write(.warning, "spans not exported") { line in
            line.add("problem", untrusted: Bytes(problem))
        }
        log.flush()
    }

    private func reportSuccess() {
        guard isFailing else { return }
        isFailing = false
        log.write(.info, "spans exported again")
        log.flush()
    }

    // MARK: Losses

    private func dropExpired() {
        let oldest = Instant(
            nanoseconds: loop.now.nanoseconds
                .subtractingReportingOverflow(Self.ageMax.inNanoseconds).partialValue)
        drop(queue.removeAll(before: oldest))
    }

    private func dropQueue() { drop(queue.removeAll(before: Instant(nanoseconds: .max))) }

    private func drop(_ count: Int) {
        spans.undelivered += count
        backlog.release(count)
    }

    /// Drops all spans, and cancels the export that runs.
    private func dropAll() {
        let former = phase
        phase = .idle
        switch former {
        case .idle: break
        case .collecting(let timer): timer.cancel()
        case .sending(let export, let attempt):
            drop(export.spans)
            attempt.cancel()
        case .waiting(let export, let timer):
            drop(export.spans)
            timer.cancel()
        }
        dropQueue()
    }
}

extension TracePlan.Collector {
    /// The request of an export.
    ///
    /// - Parameter encoding: of the body, which may have been written before a reload
    fileprivate func request(
        _ body: Bytes, _ encoding: Config.Traces.Encoding, _ version: String
    ) -> ClientRequest {
        var own: Fields = [:]
        own.append(.contentType, encoding.contentType)
        if !fields.contains("User-Agent"), let agent = FieldValue("tributary/\(version)") {
            own.append("User-Agent", agent)
        }
        return ClientRequest(
            method: .post, target: target, host: origin.hostFieldValue, constantFields: fields,
            fields: own, body: .bytes(body), responseBytesMax: TraceExporter.responseBytesMax)
    }
}
