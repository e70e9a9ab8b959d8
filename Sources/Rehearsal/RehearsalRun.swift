import Basics
package import Gateway
package import GatewayConfig
import HTTP
import Promises
import Reactor
import SimReactor

/// A configuration of a user's in virtual time: its endpoints get requests, its backends are played,
/// and some of them fail as often as is asked for.
///
/// The same configuration, seed and faults give the same answers, to the byte and the nanosecond.
package final class RehearsalRun {
    let survey: ConfigSurvey
    let settings: Settings
    private let dice: RandomSource
    private let network: SimNetwork
    private let outside: SimLoop
    let began: Instant
    private let process: SimulatedProcess
    private var workers: [SimulatedWorker] = []
    private var hosts: [SimulatedHost] = []
    private var clients: [SimulatedClient] = []
    private(set) var requests: [RehearsedRequest] = []
    private(set) var attempts: [[Attempt]] = []
    /// Checks of the backends' health so far.
    private var probes = 0

    package struct Settings: Sendable {
        package var seed: UInt64 = 1
        package var requests = 1000
        /// Requests in a second of virtual time, on average.
        package var rate = 100
        package var faults: [FaultRule] = []
        package var latencies: [LatencyRule] = []
        package var optional: [OptionalRule] = []

        package init() {}

        /// Between two requests, in microseconds.
        var pause: ClosedRange<Int> { 0...(2_000_000 / max(1, rate)) }
    }

    package init(_ config: Config, _ plan: Plan, _ settings: Settings) throws {
        self.settings = settings
        survey = ConfigSurvey(config)
        dice = RandomSource(seed: settings.seed)
        network = SimNetwork(seed: dice.dice("network").word())
        network.settings.keepsJournals = true
        network.settings.latency = .microseconds(50)...(.microseconds(300))
        outside = network.makeLoop("outside")
        began = network.clock.now
        process = SimulatedProcess(on: network, LogJournal())
        // The simulated backends of a rehearsal have no TLS.
        let plan = plan.replacingSecurity { _ in nil }
        for index in 0..<plan.process.workers {
            let worker = SimulatedWorker(index, of: plan.process.workers, plan, in: process)
            workers.append(worker)
            process.add(worker)
        }
        for worker in workers {
            try worker.listen(at: SimulatedWorker.address, isShared: workers.count > 1)
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
                    at: address, AskedPlace(backend: index, host: 0, prefix: ""), on: outside,
                    of: self)
                try simulated.listen()
                hosts.append(simulated)
                let refused = refusedShare(of: index)
                if refused > 0 { network.connectBehaviors[address] = .refuses(share: refused) }
            }
        }
    }

    /// How many attempts to connect a backend refuses, 0 to 1; several faults happen independently.
    private func refusedShare(of backend: Int) -> Double {
        1 - faults(of: backend).filter { $0.kind == .refuse }.reduce(1) { $0 * (1 - $1.share) }
    }

    /// A name gets an address of its own.
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

    /// Runs all requests to their ends.
    package func run() {
        let traffic = RehearsalTraffic(
            survey: survey, dice: dice.dice("traffic"), optional: settings.optional)
        var at = 0
        for number in 0..<settings.requests {
            at += dice.dice("pause", number).number(settings.pause)
            let (request, endpoint) = traffic.request(number)
            let client = SimulatedClient(
                ScriptedConnection(number: number, start: at, requests: [request], leaves: true),
                on: outside, of: self)
            requests.append(RehearsedRequest(number: number, endpoint: endpoint, client: client))
            attempts.append([])
            clients.append(client)
            client.start(to: SimulatedWorker.address)
        }
        network.run(until: { clients.allSatisfy(\.isDone) }, eventsMax: .max)
    }

    /// Ends everything; nothing can be told of it afterwards.
    package func close() {
        process.close()
        network.advance(by: .seconds(1))
        process.end()
        for worker in workers { _ = worker.leftovers() }
        for host in hosts { host.close() }
        for client in clients { client.forget() }
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

    /// As its client felt it.
    var duration: Duration? {
        guard let sent, let received = sent.received else { return nil }
        return received - sent.began
    }
}

extension RehearsalRun: HostDelegate, ClientDelegate {
    package func found(_ fault: PeerFault, _ mark: String?, _ text: String) {}
    package func sent(_ request: SentRequest) {}
    package func unasked(_ message: PeerMessage, _ client: SimulatedClient) {}

    package func asked(_ message: PeerMessage, at host: AskedPlace, on place: ServedPlace)
        -> Served?
    {
        guard let mark = message["X-Request-Id"] else { return probe(message, host, place) }
        guard let number = Int(mark.dropFirst()), requests.indices.contains(number),
            let call = call(of: message, survey.endpoints[requests[number].endpoint])
        else { return nil }
        let key = CallKey(generation: 0, endpoint: requests[number].endpoint, call: call)
        let ordinal = attempts[number].count { $0.call == key }
        let meant = survey.endpoints[key.endpoint].calls[call]
        let act = RehearsedAct(
            dice: dice.dice("act", number, call, ordinal), faults: faults(of: meant.backend),
            latency: latency(of: meant.backend),
            answer: SampleAnswer(meant).tree
        ).act()
        let attempt = Attempt(
            request: number, mark: mark, call: key, ordinal: ordinal, message,
            at: host, act: act, arrived: network.clock.now, on: place)
        attempts[number].append(attempt)
        return attempt
    }

    /// What fails for calls fails for checks of the backend's health, too.
    private func probe(_ message: PeerMessage, _ host: AskedPlace, _ place: ServedPlace) -> Probe {
        probes += 1
        let act = RehearsedAct(
            dice: dice.dice("probe", probes), faults: faults(of: host.backend),
            latency: latency(of: host.backend),
            answer: .members([:])
        ).act()
        return Probe(
            generation: 0, message, at: host, act: act, arrived: network.clock.now, on: place)
    }

    private func faults(of backend: Int) -> [FaultRule] {
        settings.faults.filter {
            $0.backend == "*" || $0.backend == survey.backends[backend].name
        }
    }

    private func latency(of backend: Int) -> ClosedRange<Int>? {
        settings.latencies.range(for: survey.backends[backend].name)
    }

    /// The call whose fixed pieces are all there, in order; the one with most of them if there are
    /// several.
    private func call(of message: PeerMessage, _ endpoint: ConfigSurvey.Endpoint) -> Int? {
        let words = message.startLine.split(separator: " ")
        guard words.count > 1 else { return nil }
        var best: (call: Int, length: Int)?
        for (index, call) in endpoint.calls.enumerated() where call.method == words[0] {
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
    /// What is known of a name's addresses.
    fileprivate enum Known { case addresses([IPAddress]), nothing }

    fileprivate var known: Known {
        if case .success(let list) = result { .addresses(list) } else { .nothing }
    }
}
