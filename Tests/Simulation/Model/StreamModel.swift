import Assembly
import Basics
import Gateway
import HTTP
import Rehearsal
import SimReactor

/// What is known about one streamed request: its attempts, the one whose response the client got, its
/// log line, and when bytes moved.
struct StreamModel {
    let record: RunRecord
    let request: RequestRecord
    let stream: StreamRecord
    /// Attempts that hosts received, in order of arrival.
    let attempts: [StreamAttempt]
    /// The configuration and the endpoint of the attempts; nil without an attempt.
    let config: DrawnConfig?
    let endpoint: DrawnEndpoint?
    let proxy: DrawnProxy?
    /// The line of the log.
    let line: Tree?
    let recorded: RecordedRequest?

    /// Of all streamed requests of a run.
    static func all(in record: RunRecord) -> [StreamModel] {
        var lines: [String: Tree] = [:]
        for line in record.log where line["msg"]?.string == "request" {
            if let id = line["id"]?.string { lines[id] = line }
        }
        var records: [String: RecordedRequest] = [:]
        for recorded in record.recorded {
            if case .client(let id) = recorded.id { records[String(id)] = recorded }
        }
        return record.requests.compactMap { request in
            guard let request, let stream = request.stream else { return nil }
            return StreamModel(
                record, request, stream, lines[request.mark], records[request.mark])
        }
    }

    init(
        _ record: RunRecord, _ request: RequestRecord, _ stream: StreamRecord, _ line: Tree?,
        _ recorded: RecordedRequest?
    ) {
        self.record = record
        self.request = request
        self.stream = stream
        self.line = line
        self.recorded = recorded
        attempts = record.streamAttempts(of: request)
        config = attempts.first.map { record.configs[$0.key.generation] }
        endpoint = attempts.first.map {
            record.configs[$0.key.generation].endpoints[$0.key.endpoint]
        }
        proxy = endpoint?.proxy
    }

    var mark: String { request.mark }

    /// The attempt whose response the client got; nil for a response of the gateway itself.
    var origin: StreamAttempt? {
        guard let response = request.response else { return nil }
        if response.status == 101 { return attempts.last }
        guard let header = response[StreamResponseDraw.originHeader] else { return nil }
        return attempts.first { "\($0.key.mark)/\($0.key.ordinal)" == header }
    }

    /// Why the gateway ended the response early, as the log says.
    var loggedEnd: String? { line?["end"]?.string }
    var loggedOutcome: String? { line?["outcome"]?.string }

    /// When the exchange was over, in the precision of its record.
    var ended: Moment? { recorded?.ended }

    /// When the whole response lay in the connection, or the exchange was over before. Later only the client
    /// is awaited, for which other limits exist.
    var handedOver: Moment? {
        if ["idle", "max_duration"].contains(loggedEnd) { return ended }
        let complete = origin == nil ? request.responded : origin?.read
        return [complete.flatMap(moment), ended].compactMap { $0 }.min()
    }

    /// A time in the precision of the record.
    func moment(_ instant: Instant) -> Moment? {
        recorded.map {
            Moment(microseconds: UInt32(clamping: (instant - $0.began).inNanoseconds / 1_000))
        }
    }

    /// When the gateway had the whole request; it may have begun the request later.
    var requestRead: Instant? {
        guard let read = stream.requestRead, let began = recorded?.began else { return nil }
        return max(read, began)
    }

    /// When the attempt may have taken the last byte of the request, which the gateway had read: at once, or
    /// when a host, or the network, was ready for it. Empty if it never read it.
    var requestTaken: [Instant] {
        guard let read = requestRead, let began = recorded?.began else { return [] }
        let ready =
            attempts.flatMap { [$0.sentAt] + $0.fromGateway.drained + $0.interimRead }
            + [began + .seconds(1)]
        return [read] + (stream.script.upload.framing == .none ? [] : ready.filter { $0 > read })
    }

    /// When the exchange was over; nil while it was not.
    var endedAt: Instant? {
        recorded.flatMap { recorded in recorded.ended.sinceStart.map { recorded.began + $0 } }
    }

    /// The moments at which bytes of the bodies may have moved: the gateway read some, or the network
    /// had taken all that the gateway had to send.
    var activity: [Instant] {
        var moments = stream.toGateway.readTimes(
            of: stream.bodyStart..<max(stream.bodyStart, stream.end))
        moments += stream.fromGateway.drained
        for attempt in attempts {
            moments += attempt.toGateway.readTimes(of: attempt.responseStart..<Int.max)
            moments += attempt.fromGateway.drained
        }
        return moments.sorted()
    }

    /// When the client read the response, or a host the request.
    private var receiverReads: [Instant] {
        stream.fromGateway.readTimes(of: 0..<Int.max)
            + attempts.flatMap { $0.fromGateway.readTimes(of: 0..<Int.max) }
    }

    /// When an idle time that began at this moment may end. At the end of each `idle_timeout` the gateway checks
    /// whether a side that it waits for has read since the last check; the first check counts all that
    /// the side has read.
    func idleEnds(after moment: Instant, _ idle: Duration) -> [Instant] {
        let reads = receiverReads
        var ends = [moment + idle]
        var checked = Instant(nanoseconds: 0)
        while let last = ends.last, reads.contains(where: { $0 > checked && $0 <= last }) {
            checked = last
            ends.append(last + idle)
        }
        return ends
    }

    func latestIdleEnd(after moment: Instant, _ idle: Duration) -> Instant {
        idleEnds(after: moment, idle).last ?? moment + idle
    }

    /// Whether the gateway may close the connection because its client reads slowly: by `write_timeout`,
    /// or for memory by `buffered_bytes`. If the client was only to take what the gateway kept for it,
    /// the exchange was over, and its log line has no end.
    var mayBeClosedUnread: Bool {
        !stream.script.reading.pauses.isEmpty
            && record.configs.contains {
                $0.limits.writeTimeout != nil || $0.limits.bufferedBytes != nil
            }
    }

    /// Whether a host that reads slowly had not read the whole request at this time.
    func isUploadBlocked(at time: Instant) -> Bool {
        attempts.contains { attempt in
            guard !attempt.script.reading.pauses.isEmpty else { return false }
            guard attempt.isRequestComplete, let end = attempt.requestEnd else { return true }
            return attempt.fromGateway.read(until: time) < end
        }
    }

    /// Whether the run ended all exchanges.
    var mayBeCutOff: Bool { record.drains != nil }
}

extension Moment {
    /// The time from the beginning of its request; nil if it has not happened.
    var sinceStart: Duration? { since(Moment(microseconds: 0)) }
}
