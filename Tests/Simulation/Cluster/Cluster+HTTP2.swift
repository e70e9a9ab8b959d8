import Basics
import Rehearsal
import SimReactor

/// Clients and hosts with HTTP/2.
extension Cluster {
    func startHTTP2Clients() {
        for connection in plan.connections where connection.usesHTTP2 {
            let framing = FramingScript(
                plan.random.derived("framing", connection.number),
                isUnusual: isUnusual("frames", connection.number), isHost: false,
                isSlow: plan.rates[.slowReaders] > 0)
            let client = HTTP2Client(connection, framing, on: peerLoop, of: self)
            peers.append(client)
            client.scheduleConnect(to: plan.address)
        }
    }

    private func isUnusual(_ name: StaticString, _ number: Int) -> Bool {
        plan.random.derived(name, number).chance(plan.rates[.oddFrames] * 6)
    }

    /// Serves the connections to a host.
    func http2Connection(to target: BackendHost) -> (SimStream) -> any HostConnection {
        let streamsMax = plan.configs.map {
            $0.backends[target.backend].http2?[number: "max_streams"] ?? 100
        }
        return { [unowned self] stream in
            http2Connections += 1
            let framing = FramingScript(
                plan.random.derived("host framing", http2Connections),
                isUnusual: isUnusual("host frames", http2Connections), isHost: true)
            return HTTP2HostConnection(
                stream, framing, target, streamsMax: streamsMax.max() ?? 100, on: peerLoop, of: self
            )
        }
    }
}

// MARK: - Records

extension RequestRecord {
    init(_ exchange: HTTP2ClientExchange, of client: HTTP2Client) {
        let toGateway = client.stream?.outgoingJournal ?? SimJournal()
        let fromGateway = client.stream?.incomingJournal ?? SimJournal()
        let response = exchange.response
        self.init(
            request: exchange.request, index: exchange.index, bytes: exchange.start..<exchange.end,
            worker: client.worker, began: exchange.began,
            firstRead: toGateway.read(at: exchange.start),
            read: exchange.isSentWhole ? toGateway.read(at: exchange.end - 1) : nil,
            response: response,
            responded: response == nil ? nil : fromGateway.written(at: exchange.responseStart),
            received: exchange.received, clientDisconnected: client.disconnected,
            http2: HTTP2RequestRecord(exchange, toGateway, fromGateway))
    }
}

extension HTTP2RequestRecord {
    fileprivate init(
        _ exchange: HTTP2ClientExchange, _ toGateway: SimJournal, _ fromGateway: SimJournal
    ) {
        self.init(
            headRead: toGateway.read(at: exchange.headEnd - 1),
            resetRead: exchange.resetEnd.flatMap { toGateway.read(at: $0 - 1) },
            wasReset: exchange.resetEnd != nil,
            responseEnded: exchange.responseEnd.flatMap { fromGateway.written(at: $0 - 1) },
            resetCode: exchange.resetCode,
            resetWritten: exchange.resetPosition.flatMap { fromGateway.written(at: $0) },
            excluded: exchange.excludedAt.flatMap { fromGateway.written(at: $0) })
    }
}
