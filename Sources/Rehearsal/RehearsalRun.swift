import Basics
package import Gateway
import HTTP
import Promises
import Reactor
import SimReactor

/// A run of a user's configuration in virtual time: simulated clients send requests, and simulated
/// backends respond or fail according to the settings.
///
/// The same configuration, seed and faults give the same responses, to the byte and the nanosecond.
package final class RehearsalRun {
    let survey: ConfigSurvey
    let plan: Plan
    let settings: Settings
    private let random: RandomSource
    private let network: SimNetwork
    /// The loop of clients and hosts.
    private let peerLoop: SimLoop
    let began: Instant
    private let process: SimulatedProcess
    private var workers: [SimulatedWorker] = []
    private var hosts: [SimulatedHost] = []
    private var clients: [SimulatedClient] = []
    private var doneClients = DonePrefix()
    private(set) var requests: [RehearsedRequest] = []
    private(set) var attempts: [[Attempt]] = []
    /// Number of health checks so far.
    private var probeCount = 0

    package struct Settings {
        package var seed: UInt64 = 1
        package var requests = 1000
        /// Requests per second of virtual time, on average.
        package var rate = 100
        package var faults: [FaultRule] = []
        package var latencies: [TimeRule] = []
        package var optional: [OptionalRule] = []
        /// The bodies of responses and of requests that endpoints with `proxy` pass through.
        package var downloads = StreamRules()
        package var uploads = StreamRules()
        /// Who sends the requests to protected endpoints.
        package var caller = AssumedCaller()

        package init() {}

        /// Time between two requests, in microseconds.
        var pause: ClosedRange<Int> { 0...(2_000_000 / max(1, rate)) }
    }

    package init(_ config: Config, _ plan: Plan, _ settings: Settings) throws {
        self.settings = settings
        survey = ConfigSurvey(config)
        random = RandomSource(seed: settings.seed)
        network = SimNetwork(seed: random.derived("network").nextWord())
        network.settings.keepsJournals = true
        network.settings.latency = .microseconds(50)...(.microseconds(300))
        peerLoop = network.makeLoop("outside")
        began = network.clock.now
        process = SimulatedProcess(on: network, LogJournal())
        // The simulated clients and backends of a rehearsal have no TLS, its clients no addresses of
        // their own.
        self.plan = plan.replacingSecurity { _ in nil }.servingPlainHTTP1()
            .acceptingAllClients(as: settings.caller)
        for index in 0..<plan.process.workers {
            let worker = SimulatedWorker(index, of: plan.process.workers, self.plan, in: process)
            workers.append(worker)
            process.add(worker)
        }
        for worker in workers {
            try worker.listen(
                at: plan.process.listeners.indices.map(SimulatedWorker.address),
                isShared: workers.count > 1)
        }
        try startHosts()
    }

    private func startHosts() throws(IOFailure) {
        var seen: [SocketAddress] = []
        for (index, backend) in survey.backends.enumerated() {
            for host in backend.hosts {
                let address = address(of: host, index)
                guard !seen.contains(address) else { continue }
                seen.append(address)
                let simulated = SimulatedHost(
                    at: address, BackendHost(backend: index, host: 0, prefix: ""), on: peerLoop,
                    of: self)
                try simulated.listen()
                hosts.append(simulated)
                let refused = refusedShare(of: index)
                if refused > 0 { network.connectBehaviors[address] = .refuses(share: refused) }
            }
        }
    }

    /// Share of connection attempts that a backend refuses, 0 to 1. Several faults are independent.
    private func refusedShare(of backend: Int) -> Double {
        1 - faults(of: backend).filter { $0.kind == .refuse }.reduce(1) { $0 * (1 - $1.share) }
    }

    /// The address of a host; each name gets its own.
    private func address(of host: ConfigSurvey.Host, _ backend: Int) -> SocketAddress {
        if let address = IPAddress(host.host) { return .ip(address, port: host.port) }
        if case .addresses(let known)? = network.names[host.host].map(\.known),
            let first = known.first
        {
            return .ip(first, port: host.port)
        }
        let address = IPAddress.v4(0x0A00_0000 + UInt32(network.names.count))
        network.names[host.host] = .addresses([address])
        return .ip(address, port: host.port)
    }

    /// Runs until every client is done.
    ///
    /// - Parameter progress: called with the number of clients that are done, whenever it has grown;
    ///   a client that still waits holds back the number of those after it
    package func runRequests(progress: (_ done: Int) -> Void = { _ in }) {
        let traffic = RehearsalTraffic(
            survey: survey, random: random.derived("traffic"), optional: settings.optional,
            uploads: settings.uploads)
        var at = 0
        for number in 0..<settings.requests {
            at += random.derived("pause", number).number(settings.pause)
            let (request, endpoint) = traffic.request(number)
            let client = SimulatedClient(
                ScriptedConnection(
                    number: number, start: at, requests: [request], closesWhenDone: true),
                on: peerLoop, of: self)
            requests.append(RehearsedRequest(number: number, endpoint: endpoint, client: client))
            attempts.append([])
            clients.append(client)
            client.scheduleConnect(
                to: SimulatedWorker.address(survey.endpoints[endpoint].listener))
        }
        network.run(until: { areClientsDone(progress) }, eventsMax: .max)
    }

    private func areClientsDone(_ progress: (Int) -> Void) -> Bool {
        if doneClients.advance(of: clients.count, { clients[$0].isDone }) {
            progress(doneClients.count)
        }
        return doneClients.count == clients.count
    }

    /// Closes workers, hosts and clients. Reports must be made before.
    package func close() {
        process.close()
        network.advance(by: .seconds(1))
        process.end()
        for worker in workers { _ = worker.leftovers() }
        for host in hosts { host.close() }
        for client in clients { client.releaseStream() }
    }

    /// Virtual time that has passed.
    var duration: Duration { network.clock.now - began }
}

/// One request of a rehearsal.
struct RehearsedRequest {
    let number: Int
    let endpoint: Int
    let client: SimulatedClient

    var sent: SentRequest? { client.sent.first }

    /// The time from the first byte sent to the first byte of the response.
    var timeToFirstByte: Duration? {
        guard let sent, let first = client.stream?.incomingJournal.read(at: 0) else { return nil }
        return first - sent.began
    }

    /// The time from the first byte sent to the last byte of the response, or to the end of one that
    /// was broken off, as the client measures it.
    var duration: Duration? {
        guard let sent else { return nil }
        let brokenOff = client.unfinishedResponse == nil ? nil : client.endSeen
        return (sent.received ?? brokenOff).map { $0 - sent.began }
    }
}

extension RehearsalRun: HostDelegate, ClientDelegate {
    package func recordFault(_ fault: PeerFault, _ mark: String?, _ text: String) {}
    package func clientSends(_ request: SentRequest) {}
    package func clientReceivedUnsolicited(_ message: PeerMessage, _ client: SimulatedClient) {}

    package func hostReceived(
        _ message: PeerMessage, at host: BackendHost, on position: ConnectionPosition
    ) -> HostRequest? {
        guard let mark = message["X-Request-Id"] else { return probe(message, host, position) }
        guard let number = Int(mark.dropFirst()), requests.indices.contains(number),
            let call = call(of: message, survey.endpoints[requests[number].endpoint])
        else { return nil }
        let key = CallKey(generation: 0, endpoint: requests[number].endpoint, call: call)
        let ordinal = attempts[number].count { $0.call == key }
        let meant = survey.endpoints[key.endpoint].calls[call]
        let random = random.derived("act", number, call, ordinal)
        let script = RehearsedResponse(
            random: random, faults: faults(of: meant.backend),
            latency: latency(of: meant.backend),
            tree: SampleResponse(meant).tree,
            stream: hasDownloads(key.endpoint)
                ? settings.downloads.body(
                    for: survey.backends[meant.backend].name, random.derived("stream")) : nil
        ).script()
        let attempt = Attempt(
            request: number, mark: mark, call: key, ordinal: ordinal, message,
            at: host, script: script, arrived: network.clock.now, on: position)
        attempts[number].append(attempt)
        return attempt
    }

    /// Faults and latencies of calls apply to health checks, too.
    private func probe(_ message: PeerMessage, _ host: BackendHost, _ position: ConnectionPosition)
        -> Probe
    {
        probeCount += 1
        let script = RehearsedResponse(
            random: random.derived("probe", probeCount), faults: faults(of: host.backend),
            latency: latency(of: host.backend),
            tree: .members([:])
        ).script()
        return Probe(
            generation: 0, message, at: host, script: script, arrived: network.clock.now,
            on: position)
    }

    /// Whether the endpoint passes through responses that are sent in pieces.
    func hasDownloads(_ endpoint: Int) -> Bool {
        let endpoint = survey.endpoints[endpoint]
        return endpoint.isProxy
            && endpoint.calls.contains {
                settings.downloads.sizes(for: survey.backends[$0.backend].name) != nil
            }
    }

    private func faults(of backend: Int) -> [FaultRule] {
        settings.faults.filter {
            $0.backend == "*" || $0.backend == survey.backends[backend].name
        }
    }

    private func latency(of backend: Int) -> ClosedRange<Int>? {
        settings.latencies.range(for: survey.backends[backend].name)
    }

    /// The call whose literal pieces are all in the target, in order; of several, the one with the longest
    /// pieces.
    private func call(of message: PeerMessage, _ endpoint: ConfigSurvey.Endpoint) -> Int? {
        let words = message.startLine.split(separator: " ")
        guard words.count > 1 else { return nil }
        var best: (call: Int, length: Int)?
        for (index, call) in endpoint.calls.enumerated()
        where call.method ?? String(words[0]) == words[0] {
            var rest = words[1]
            var isThere = true
            for literal in call.literals {
                guard let range = rest.firstRange(of: literal) else {
                    isThere = false
                    break
                }
                rest = rest[range.upperBound...]
            }
            let length = call.literals.reduce(0) { $0 + $1.utf8.count }
            if isThere, length >= best?.length ?? 0, length > best?.length ?? -1 {
                best = (index, length)
            }
        }
        return best?.call
    }
}

extension SimNetwork.LookUpOutcome {
    /// The addresses of a name, if it has any.
    fileprivate enum Known { case addresses([IPAddress]), nothing }

    fileprivate var known: Known {
        if case .success(let list) = result { .addresses(list) } else { .nothing }
    }
}
