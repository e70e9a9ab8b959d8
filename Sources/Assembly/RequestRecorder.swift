import Basics
import Gateway
import HTTP
import HTTPServer
import Reactor

/// Records every request: in the metrics and in the access log.
final class RequestRecorder {
    private let loop: any Loop
    private let log: Log
    private var hasAccessLog = true
    private var proxies: TrustedProxies?
    private var endpoints = EndpointSlots()
    private(set) var meter = WorkerMetrics(endpointNames: [])

    init(loop: any Loop, log: Log) {
        self.loop = loop
        self.log = log
    }

    /// Adds the endpoints of a plan; returns the number of each.
    func open(_ plan: Plan) -> [Int] {
        hasAccessLog = plan.process.log.access
        proxies = plan.proxies.isEmpty ? nil : plan.proxies
        let slots = endpoints.slots(of: plan)
        meter.name(endpoints.names)
        return slots
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
            hidesTiming: exchange.endpoint.map { endpoints.isPadded[$0] } ?? false)
    }

    private func ended(_ end: ServerHooks.ExchangeEnd) {
        let duration = end.exchange.record?.duration ?? .zero
        meter.count(endpoint: end.exchange.endpoint, status: end.status, after: duration)
        guard hasAccessLog else { return }
        log.write(.info, "request") { line in
            line.add("id", untrusted: Bytes(end.exchange.id.description))
            addClient(of: end, to: &line)
            line.add("method", end.request.method.description)
            line.add("path", untrusted: end.request.target.path)
            if let endpoint = end.exchange.endpoint {
                line.add("endpoint", endpoints.names[endpoint])
            }
            line.add("status", Int(end.status))
            if end.status == ServerHooks.ExchangeEnd.cutOff { line.add("outcome", "cut_off") }
            line.add("bytes", end.bodyBytes)
            line.add(milliseconds: "ms", duration)
        }
    }

    /// The peer, with its port; where a trusted proxy names the client, the client and the peer.
    private func addClient(of end: ServerHooks.ExchangeEnd, to line: inout LogLine) {
        let peer = end.exchange.client
        let client = proxies.map { end.exchange.clientAddress(of: end.request, $0) }
        if let client, client.isNamedByProxy, let address = client.text {
            line.add("client", untrusted: address)
            if let peer { line.add("peer", peer) }
        } else if let peer {
            line.add("client", peer)
        }
    }

    private func refused(_ status: Status, _ client: SocketAddress?) {
        meter.count(endpoint: nil, status: status.code, after: .zero)
        guard hasAccessLog else { return }
        log.write(.info, "refused") { line in
            if let client { line.add("client", "\(client)") }
            line.add("status", Int(status.code))
        }
    }
}
