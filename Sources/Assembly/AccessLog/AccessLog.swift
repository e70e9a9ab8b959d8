import Basics
import Gateway
import HTTP
import HTTPServer
import Reactor

/// Writes one line for each request that `log` wants one for: a reader of the request's record. Owned
/// by the recorder of a worker; replaced by a reload.
struct AccessLog {
    private let plan: LogPlan
    private let filter: AccessLogFilter
    private let proxies: TrustedProxies?
    private let log: Log

    init(_ plan: Plan, to log: Log) {
        self.plan = plan.process.log
        filter = AccessLogFilter(plan.process.log.only)
        proxies = plan.proxies.isEmpty ? nil : plan.proxies
        self.log = log
    }

    /// - Parameter duration: of the request
    func write(_ end: RequestEnd, after duration: Duration, _ entropy: Entropy) {
        guard log.level <= .info, filter.accepts(end.outcome, after: duration, entropy)
        else { return }
        guard plan.format == .combined else { return writeFields(of: end, after: duration) }
        let line = CombinedLine(
            client: clientAddress(of: end), caller: end.context.caller?.name,
            request: end.request, query: plan.query,
            status: end.status, bodyBytes: end.bodyBytes)
        log.write(.info) { text, unixTime in line.append(to: &text, at: unixTime) }
    }

    /// Something was refused that never became a request.
    func write(_ refused: ServerHooks.RefusedInput) {
        // A line of the combined format consists of the parts of a request, which are missing here.
        guard plan.format != .combined, filter.acceptsRefusals(refused.status) else { return }
        log.write(.info, "refused") { line in
            line.add("id", refused.id.description)
            if let client = refused.peer.text { line.add("client", client) }
            add(portOf: refused.peer, to: &line)
            line.add("status", Int(refused.status.code))
            line.add(literal: "reason", refused.reason)
        }
    }

    // MARK: Typed fields

    private func writeFields(of end: RequestEnd, after duration: Duration) {
        let record = end.context.record
        let hidesTimes = record.endpoint?.isPadded ?? false
        log.write(.info, "request") { line in
            addIDs(of: end.context, to: &line)
            addClient(of: end, to: &line)
            if let identity = end.context.peer.facts?.identity {
                line.add("client_certificate", untrusted: Bytes(identity.name))
            }
            if let caller = end.context.caller?.name { line.add("caller", untrusted: caller) }
            addConnection(of: end, to: &line)
            line.add("method", end.request.method.description)
            line.add("path", untrusted: end.request.target.path)
            if let query = end.request.target.query(plan.query) {
                line.add("query", untrusted: query)
            }
            if let endpoint = record.endpoint { line.add("endpoint", endpoint.name) }
            line.add("status", Int(end.status))
            line.add(literal: "outcome", end.outcome.name)
            if let reason = end.context.streamEnd { line.add(literal: "end", reason.name) }
            if let reason = end.context.refusal?.name ?? end.context.rejection {
                line.add(literal: "reason", reason)
            }
            if let cause = end.context.refusalCause { line.add(literal: "cause", cause.name) }
            line.add(milliseconds: "ms", duration)
            if !hidesTimes { addTimes(of: record, to: &line) }
            line.add("bytes_in", record.bodyBytes)
            line.add("bytes_out", end.bodyBytes)
            addHeaders(of: end.request, to: &line)
            addCalls(of: record, hidesTimes, to: &line)
        }
    }

    private func addIDs(of context: RequestContext, to line: inout LogLine) {
        switch context.id {
        case .own: line.add(plain: "id") { $0.append(context.id) }
        case .client(let bytes): line.add("id", untrusted: bytes)
        }
        line.add(plain: "trace") { text in
            text.append(hex: context.trace.traceHigh)
            text.append(hex: context.trace.traceLow)
        }
    }

    /// The peer; where a trusted proxy names the client, the client and the peer.
    private func addClient(of end: RequestEnd, to line: inout LogLine) {
        let peer = end.context.peer.text
        let client = proxies.map { end.context.clientAddress(of: end.request, $0) }
        if let client, client.isNamedByProxy, let address = client.text {
            line.add("client", untrusted: address)
            if let peer { line.add("peer", peer) }
        } else if let peer {
            line.add("client", peer)
        }
        add(portOf: end.context.peer, to: &line)
    }

    /// The protocol, and the host that the client named.
    private func addConnection(of end: RequestEnd, to line: inout LogLine) {
        let facts = end.context.peer.facts
        if let listener = facts?.listener { line.add("listener", listener) }
        line.add(literal: "scheme", facts?.isSecure == true ? "https" : "http")
        if let version = facts?.tlsVersion { line.add(literal: "tls", version) }
        line.add(literal: "protocol", end.request.version.text)
        if let host = end.request.target.authority ?? end.request.fields[.host]?.bytes {
            line.add("host", untrusted: host)
        }
    }

    private func add(portOf peer: PeerAddress, to line: inout LogLine) {
        if let port = peer.port { line.add("port", Int(port)) }
    }

    /// The client's address without a port; nil on a unix socket.
    private func clientAddress(of end: RequestEnd) -> Bytes? {
        end.context.clientAddress(of: end.request, proxies ?? .none).text
    }

    private func addTimes(of record: RequestRecord, to line: inout LogLine) {
        let times = record.times
        line.add(milliseconds: "own_ms", times[.own])
        if times[.receiving] > .zero {
            line.add(milliseconds: "receive_ms", times[.receiving])
        }
        if times[.store] > .zero { line.add(milliseconds: "store_ms", times[.store]) }
        if times[.keys] > .zero { line.add(milliseconds: "keys_ms", times[.keys]) }
        if record.firstPart.hasHappened {
            line.add(
                milliseconds: "first_part_ms",
                .microseconds(Int64(record.firstPart.microseconds)))
        }
    }

    private func addCalls(of record: RequestRecord, _ hidesTimes: Bool, to line: inout LogLine) {
        guard let entries = CallEntries(record, hidesTimes: hidesTimes) else { return }
        line.add(entries: "calls", entries.count, where: entries.isShown) {
            entries.add($0, to: &$1)
        }
    }

    private func addHeaders(of request: RequestHead, to line: inout LogLine) {
        guard plan.headers.contains(where: request.fields.contains) else { return }
        line.add(group: "headers") { group in
            for name in plan.headers {
                // The first line of several: a second one is the client's, too.
                guard let value = request.fields[name] else { continue }
                group.add(name: name.span, untrusted: value.bytes)
            }
        }
    }
}
