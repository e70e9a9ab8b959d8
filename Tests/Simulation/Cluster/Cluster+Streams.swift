import Basics
import Reactor
import Rehearsal
import SimReactor

/// The clients and hosts of endpoints with `proxy`.
extension Cluster {
    func startStreamHosts() throws(IOFailure) {
        for (index, backend) in plan.configs[0].streamBackends.enumerated() {
            for (place, port) in backend.ports.enumerated() {
                let target = BackendHost(backend: index, host: place, prefix: backend.prefix)
                let host = SimulatedHost(
                    at: .ip(.v4(0x7F00_0001), port: port), target, on: peerLoop, of: self
                ) { [unowned self] in StreamHostConnection($0, target, peerLoop, of: self) }
                try host.listen()
                hosts.append(host)
                if place == 0, backend.refusedShare > 0, plan.rates[.refusals] > 0 {
                    network.connectBehaviors[host.address] = .refuses(share: backend.refusedShare)
                }
            }
        }
    }

    func startStreamClients() {
        for connection in plan.streams {
            let client = StreamClient(connection, on: peerLoop, of: self)
            peers.append(client)
            let address = connection.listener.map { plan.configs[0].listeners[$0].address }
            client.scheduleConnect(to: address ?? plan.address)
        }
    }

    /// A client begins to send a streamed request.
    func streamBegins(_ request: ScriptedRequest) { sentNumbers.insert(request.number) }

    /// A host received the head of a streamed request.
    func streamArrived(
        _ message: PeerMessage, at target: BackendHost
    ) -> (key: StreamKey, script: StreamResponseScript)? {
        guard let mark = message["X-Request-Id"], let number = Int(mark.dropFirst()),
            sentNumbers.contains(number), let attempt = message["X-Proxy"],
            let call = CallKey("\(attempt)c0"), plan.configs.indices.contains(call.generation),
            plan.configs[call.generation].endpoints.indices.contains(call.endpoint),
            let proxy = plan.configs[call.generation].endpoints[call.endpoint].proxy
        else {
            recordViolation(
                .calls, message["X-Request-Id"],
                "a host received a request that no client sent: \(message.startLine)")
            return nil
        }
        let key = StreamKey(
            number: number, generation: call.generation, endpoint: call.endpoint,
            ordinal: streamAttempts.count { $0.key.number == number })
        let config = plan.configs[call.generation]
        let port = config.streamBackends[target.backend].ports[target.host]
        let draw = StreamResponseDraw(
            random: plan.random.derived("stream", number, key.ordinal), rates: plan.rates,
            mark: mark, ordinal: key.ordinal, head: message, lengthMax: plan.bodyMax,
            folder: proxy.folder(of: config.endpoints[call.endpoint], config),
            origin: "http://127.0.0.1:\(port)")
        return (key, draw.script())
    }
}

// MARK: - Records

extension HandshakeRecord {
    /// Nil for a client of the first listener.
    init?(_ client: StreamClient) {
        guard let listener = client.script.listener else { return nil }
        self.init(
            listener: listener, hello: client.script.hello, connected: client.connected,
            secured: client.secured,
            gatewayClosed: client.stream?.incomingJournal.closed)
    }
}

extension RequestRecord {
    init(_ exchange: StreamExchange, of client: StreamClient) {
        let stream = StreamRecord(exchange, of: client)
        // The gateway's own response counts once all of it has arrived.
        let response = exchange.isProxied || exchange.completed != nil ? exchange.response : nil
        self.init(
            request: exchange.request, index: exchange.index, bytes: stream.start..<stream.end,
            worker: client.worker, began: exchange.began,
            firstRead: stream.toGateway.read(at: stream.start), read: stream.requestRead,
            response: response.map { $0.withBody(exchange.text) },
            responded: response == nil
                ? nil
                : stream.fromGateway.written(at: exchange.responseStart + PeerMessage.versionBytes),
            received: exchange.completed,
            taken: exchange.responseEnd.flatMap { stream.fromGateway.taken(at: $0 - 1) },
            clientDisconnected: client.disconnected, stream: stream)
    }
}

extension StreamRecord {
    fileprivate init(_ exchange: StreamExchange, of client: StreamClient) {
        let next = client.exchanges.dropFirst(exchange.index + 1).first?.start
        self.init(
            exchange: exchange,
            end: next ?? exchange.end ?? client.counted?.written ?? exchange.bodyStart,
            toGateway: client.stream?.outgoingJournal ?? SimJournal(),
            fromGateway: client.stream?.incomingJournal ?? SimJournal(),
            disconnected: client.disconnected, halfClosed: client.halfClosed,
            endSeen: client.endSeen)
    }
}
