import Assembly
import Basics
import Foundation
import Gateway
import GatewayConfig
import HTTP
import Promises
import Reactor
import SimReactor
import TLS
import TestCertificates
import TestSupport
import Testing

/// A whole gateway in virtual time: the core that the daemon runs, on a simulated network, with
/// scripted backends on the ports 7001 to 7003 and clients in the test's hands.
///
/// Nothing takes time on this network but what a test says, so every number is exact.
final class GatewayHarness: Harness {
    let testbed: Testbed
    /// The gateway's.
    var loop: SimLoop { testbed.loop }
    /// Where clients and backends live.
    var outside: SimLoop { testbed.peerLoop }

    private(set) var local: GatewayInstance?
    private let log: Log
    private var address = SocketAddress.ip(.v4(0x7F00_0001), port: 8080)
    private var backends: [UInt16: ScriptedBackend] = [:]
    private var clients: [ScriptedClient] = []
    private let written = Written()

    /// What the backends saw, with its time: `0 GET /1`, `20 given up /1`.
    private(set) var events: [String] = []
    /// The requests of the backends, whole.
    private(set) var seen: [ReceivedRequest] = []
    private var replies: [String: [Reply]] = [:]

    /// - Parameter config: as an operator writes it
    init(config: String, seed: UInt64 = 1) throws {
        let testbed = Testbed(
            seed: seed, subject: "gateway", peers: "outside", latency: .zero ... .zero)
        self.testbed = testbed
        let loop = testbed.loop
        log = Log(level: .info, format: .json, clock: { [loop] in loop.unixTime }) {
            [written] in written.text += String(decoding: $0, as: UTF8.self)
        }
        let local = GatewayInstance(
            try Self.plan(config), loop: loop, log: log,
            shared: SharedResources(names: network.makeNameService()))
        self.local = local
        address = try local.listen(on: address, sharedPort: false)
        for port in 7001...7003 as ClosedRange<UInt16> {
            backends[port] = try backend(at: port)
        }
    }

    /// One endpoint `GET /x` over the backends `a`, `b` and `c`.
    ///
    /// - Parameters:
    ///   - calls: its calls, one a line
    ///   - endpoint: more lines of the endpoint
    ///   - backend: more of backend `a`, in flow style
    ///   - top: more lines of the file
    convenience init(
        _ calls: String, endpoint: String = "", backend: String = "", top: String = "",
        seed: UInt64 = 1
    ) throws {
        try self.init(config: Self.text(calls, endpoint, backend, top), seed: seed)
    }

    static func text(
        _ calls: String, _ endpoint: String = "", _ backend: String = "", _ top: String = ""
    ) -> String {
        let url = backend.contains("urls:") ? "" : "url: \"http://127.0.0.1:7001\", "
        let route = endpoint.contains("route:") ? "" : "route: GET /x\n"
        let lines = (route + endpoint).indented(4)
        return """
            version: 1
            \(top)
            backends:
              a: { \(url)\(backend) }
              b: { url: "http://127.0.0.1:7002" }
              c: { url: "http://127.0.0.1:7003" }
            endpoints:
              -
            \(lines)
                calls:
            \(calls.indented(6))
            """
    }

    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    private static func plan(_ text: String) throws -> Plan {
        let (config, problems) = ConfigLoader.load(
            "c.yaml", files: ConfigFiles(oneFile: text), environment: { _ in nil })
        guard let config else {
            throw Refused(description: problems.lines.joined(separator: "\n") + "\n" + text)
        }
        return try Planner.plan(config, processors: 1)
    }

    // MARK: Backends

    /// What a target is answered with, one reply after the other; the last one again and again.
    /// Without a script an answer is the target itself, as a JSON string.
    func on(_ target: String, _ replies: Reply...) { on(target, replies) }

    func on(_ target: String, _ replies: [Reply]) { self.replies[target] = replies }

    func backend(_ port: UInt16 = 7001) -> ScriptedBackend? { backends[port] }

    /// A backend that answers as the script says and notes what happens.
    private func backend(at port: UInt16) throws -> ScriptedBackend {
        let backend = try ScriptedBackend(
            on: outside, at: .ip(.v4(0x7F00_0001), port: port)
        ) { [unowned self] exchange in
            saw(exchange.request)
            exchange.perform(reply(to: exchange.request.target))
        }
        backend.onAbandoned = { [unowned self] in note("given up \($0.target)") }
        return backend
    }

    /// Attempts to connect to this port are never answered.
    func silence(_ port: UInt16) { network.fates[.ip(.v4(0x7F00_0001), port: port)] = .silent }

    private var asked: [String: Int] = [:]

    private func reply(to target: String) -> Reply {
        let number = asked[target, default: 0]
        asked[target] = number + 1
        guard let script = replies[target], let last = script.last else {
            return .ok("\"\(target)\"")
        }
        return number < script.count ? script[number] : last
    }

    private func saw(_ request: ReceivedRequest) {
        seen.append(request)
        note("\(request.method) \(request.target)")
    }

    private func note(_ event: String) {
        events.append("\(String(format: "%g", ms)) \(event)")
    }

    // MARK: Clients

    typealias NotConnected = Testbed.NotConnected

    func connect() throws -> ScriptedClient {
        let client = ScriptedClient(ScriptedPeer(try stream()), on: testbed)
        clients.append(client)
        return client
    }

    /// A connection to the gateway, for clients that are no clients.
    func stream() throws -> any ByteStream { try testbed.connect(to: address) }

    /// A new client sends this; nothing happens before time passes.
    func send(_ text: String) throws -> ScriptedClient {
        let client = try connect()
        client.send(text)
        return client
    }

    /// A new client sends this and waits for its answer.
    func ask(_ text: String = get()) throws -> ReceivedResponse { answer(of: try send(text)) }

    /// Lets time pass until a client has its next answer, or is told that there is none.
    func answer(of client: ScriptedClient) -> ReceivedResponse {
        let count = client.answers.count
        network.run(until: { client.answers.count > count || client.isClosed }, eventsMax: 100_000)
        network.advance(by: .zero)
        return client.answers.count > count ? client.answers[count] : .none
    }

    // MARK: Time

    func pass(_ milliseconds: Double) {
        testbed.pass(.microseconds(Int64(milliseconds * 1000)))
    }

    // MARK: The core

    /// Does something as an event of the gateway's loop.
    func onLocalContext(_ action: @escaping (GatewayInstance) -> Void) {
        testbed.perform(on: loop) { [unowned self] in local.map(action) }
    }

    /// Begins the end; the closure gives the time at which it was over, if it is.
    func drain() -> () -> Double? {
        var ended: Double?
        onLocalContext { [unowned self] local in local.drain().whenSettled { _ in ended = self.ms }
        }
        return { ended }
    }

    func announceDrain() { onLocalContext { $0.announceDrain() } }

    func install(_ config: String) throws {
        let plan = try Self.plan(config)
        onLocalContext { $0.install(plan) }
    }

    /// Timers of the gateway that are still to fire.
    var timers: Int { loop.pendingTimers }

    /// `1 running, 2 waiting`
    func load(of backend: String = "a") throws -> String {
        let state = try state(of: backend)
        return "\(state.running) running, \(state.waiting) waiting"
    }

    func isBreakerOpen(of backend: String = "a") throws -> Bool { try state(of: backend).isOpen }

    /// Hosts of a backend that are ejected, or not well.
    func leftOut(of backend: String = "a") throws -> Int { try state(of: backend).unavailableHosts }

    /// Connections of the gateway to a backend.
    func connections(to backend: String = "a") throws -> Int { try state(of: backend).connections }

    private func state(of backend: String) throws -> BackendState {
        let states = try #require(local).snapshot.backends
        return try #require(states.first { $0.name == backend })
    }

    /// How the calls to a backend ended: `ok 2, queue_full 1`.
    func outcomes(of backend: String = "a") throws -> String {
        try state(of: backend).outcomes.filter { $0.count > 0 }
            .map { "\($0.name) \($0.count)" }.joined(separator: ", ")
    }

    /// What the endpoints answered, as the core counted it: `GET /x: 200 once, 502 2 times`.
    var answered: [String] {
        guard let meter = local?.snapshot.meter else { return [] }
        return (meter.endpoints + [meter.elsewhere]).filter { !$0.statuses.isEmpty }.map {
            endpoint in
            let counts = endpoint.statuses.map { status in
                "\(status.code) \(status.count == 1 ? "once" : "\(status.count) times")"
            }
            let name = endpoint.name.isEmpty ? "elsewhere" : endpoint.name
            return "\(name): \(counts.joined(separator: ", "))"
        }
    }

    /// The log's lines so far.
    var logged: [String] {
        log.flush()
        return written.text.split(separator: "\n").map(String.init)
    }

    /// What the access log says of the requests: `200`, `499`.
    var loggedStatuses: [String] {
        logged.compactMap { line in
            line.firstMatch(of: /"status":(\d+)/).map { String($0.1) }
        }
    }

    /// Ends everything. Nothing may be left of what the gateway ever held: no request, no call, no
    /// connection, no timer, no object.
    func expectQuiet(_ location: SourceLocation = #_sourceLocation) {
        for client in clients { client.leave() }
        network.advance(by: .milliseconds(200))
        if let snapshot = local?.snapshot {
            #expect(snapshot.requests.isEmpty, sourceLocation: location)
            #expect(snapshot.connections == 0, sourceLocation: location)
            #expect(snapshot.bufferedBytes == 0, sourceLocation: location)
            for backend in snapshot.backends {
                let load = "\(backend.name): \(backend.running) running, \(backend.waiting) waiting"
                #expect(load == "\(backend.name): 0 running, 0 waiting", sourceLocation: location)
            }
            var isClosed = false
            onLocalContext { $0.close().whenSettled { _ in isClosed = true } }
            #expect(isClosed, "the core never closed", sourceLocation: location)
        }
        // Long enough for the log's last batch, too short for a timer of a request to pass unseen.
        network.advance(by: .milliseconds(150))
        let left = network.leftovers.filter { $0.hasPrefix("gateway:") }
        #expect(left == [], sourceLocation: location)
        weak let former = local
        local = nil
        for backend in backends.values { backend.close() }
        #expect(network.runUntilQuiet(), sourceLocation: location)
        #expect(network.leftovers == [], sourceLocation: location)
        #expect(former == nil, "the core is still held", sourceLocation: location)
    }

    private final class Written {
        var text = ""
    }
}

extension ConfigFiles {
    fileprivate init(oneFile text: String) {
        self.init(
            read: { path throws(ConfigFileError) in
                guard path.hasSuffix(".pem") else { return Array(text.utf8) }
                guard let bytes = try? Certificates.file(path) else { throw .notFound }
                return bytes.span.withUnsafeBufferPointer { Array($0) }
            },
            list: { _ throws(ConfigFileError) in throw .notFound })
    }
}

extension String {
    fileprivate func indented(_ count: Int) -> String {
        split(separator: "\n").map { String(repeating: " ", count: count) + $0 }
            .joined(separator: "\n")
    }
}

extension ScriptedBackend {
    /// From now on it speaks TLS.
    func secure(_ context: TLSServerContext) {
        secure = { [loop] in context.accept($0, on: loop) }
    }
}
