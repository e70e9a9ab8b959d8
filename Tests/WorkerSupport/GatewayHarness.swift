package import Assembly
import Basics
import Foundation
package import Gateway
import HTTP
import Promises
package import Reactor
package import SimReactor
package import TLS
import TestCertificates
package import TestSupport
package import Testing

/// A complete gateway in virtual time: the instance that the daemon runs, on a simulated network,
/// with scripted backends on the ports 7001 to 7003 and clients that the test controls.
///
/// Only what a test delays takes time on this network, so every number is exact.
package final class GatewayHarness: Harness {
    package let testbed: Testbed
    /// The loop of the gateway.
    package var loop: SimLoop { testbed.loop }
    /// The loop of clients and backends.
    package var outside: SimLoop { testbed.peerLoop }

    package private(set) var instance: GatewayInstance?
    private let log: Log
    private var address = SocketAddress.ip(.v4(0x7F00_0001), port: 8080)
    private var backends: [UInt16: ScriptedBackend] = [:]
    private var clients: [ScriptedClient] = []
    private let written = Written()
    /// The sampled requests that the gateway passed on.
    package let traced = Traced()

    /// What happened at the backends, with its time: `0 GET /1`, `20 cancelled /1`.
    package private(set) var events: [String] = []
    /// The complete requests that the backends received.
    package private(set) var seen: [ReceivedRequest] = []
    private var replies: [String: [Reply]] = [:]

    /// - Parameters:
    ///   - config: the text of a configuration file
    ///   - files: the contents of files that it names
    ///   - environment: the variables that it uses
    package init(
        config: String, files: [String: String] = [:], environment: [String: String] = [:],
        seed: UInt64 = 1
    ) throws {
        let testbed = Testbed(
            seed: seed, subject: "gateway", peers: "outside", latency: .zero ... .zero)
        self.testbed = testbed
        let loop = testbed.loop
        log = Log(level: .info, format: .json, clock: { [loop] in loop.unixTime }) {
            [written] in written.text += String(decoding: $0, as: UTF8.self)
        }
        let instance = GatewayInstance(
            try Self.plan(config, files: files, environment: environment), loop: loop, log: log,
            shared: SharedResources(names: network.makeNameService()),
            traces: { [traced] in traced.batches.append($0) })
        self.instance = instance
        address = try instance.listen(on: address, sharedPort: false)
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
    ///   - files: the contents of files that it names
    package convenience init(
        _ calls: String, endpoint: String = "", backend: String = "", top: String = "",
        files: [String: String] = [:], seed: UInt64 = 1
    ) throws {
        try self.init(
            config: Self.text(calls, endpoint, backend, top), files: files, seed: seed)
    }

    package static func text(
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

    package struct Refused: Error, CustomStringConvertible {
        package let description: String
    }

    package static func plan(
        _ text: String, files: [String: String] = [:], environment: [String: String] = [:]
    ) throws -> Plan {
        let (config, problems) = ConfigLoader.load(
            "c.yaml", files: ConfigFiles(text, files), environment: { environment[$0] })
        guard let config else {
            throw Refused(description: problems.lines.joined(separator: "\n") + "\n" + text)
        }
        return try Planner.plan(config, processors: 1)
    }

    // MARK: Backends

    /// Sets the replies to a target, used one after the other; the last one repeats. Without a
    /// script the reply is the target itself, as a JSON string.
    package func on(_ target: String, _ replies: Reply...) { on(target, replies) }

    package func on(_ target: String, _ replies: [Reply]) { self.replies[target] = replies }

    package func backend(_ port: UInt16 = 7001) -> ScriptedBackend? { backends[port] }

    /// A backend that replies as scripted and records what happens.
    private func backend(at port: UInt16) throws -> ScriptedBackend {
        let backend = try ScriptedBackend(
            on: outside, at: .ip(.v4(0x7F00_0001), port: port)
        ) { [unowned self] exchange in
            record(exchange.request)
            exchange.perform(reply(to: exchange.request.target))
        }
        backend.onAbandoned = { [unowned self] in record("cancelled \($0.target)") }
        return backend
    }

    /// Lets connection attempts to this port time out.
    package func silence(_ port: UInt16) {
        network.connectBehaviors[.ip(.v4(0x7F00_0001), port: port)] = .silent
    }

    private var requestCounts: [String: Int] = [:]

    private func reply(to target: String) -> Reply {
        let number = requestCounts[target, default: 0]
        requestCounts[target] = number + 1
        guard let script = replies[target], let last = script.last else {
            return .ok("\"\(target)\"")
        }
        return number < script.count ? script[number] : last
    }

    private func record(_ request: ReceivedRequest) {
        seen.append(request)
        record("\(request.method) \(request.target)")
    }

    private func record(_ event: String) {
        events.append("\(String(format: "%g", ms)) \(event)")
    }

    // MARK: Clients

    package typealias NotConnected = Testbed.NotConnected

    package func connect() throws -> ScriptedClient {
        let client = ScriptedClient(ScriptedPeer(try stream()), on: testbed)
        clients.append(client)
        return client
    }

    /// A plain connection to the gateway.
    package func stream() throws -> any ByteStream { try testbed.connect(to: address) }

    /// A connection with TLS to the gateway, as this client; its listener needs `server.pem`.
    package func secureStream(
        as client: String? = nil, offering protocols: ApplicationProtocols = .http1
    ) throws -> any ByteStream {
        let plain = try stream()
        let security = try Certificates.trusting(as: client).security
        var result: Result<any ByteStream, any Error>?
        testbed.perform(on: outside) { [outside] in
            security.secure(plain, "backend.test", outside, offering: protocols)
                .whenSettled { result = $0 }
        }
        network.run(until: { result != nil }, eventsMax: 10_000)
        return try #require(result).get()
    }

    /// A client with TLS.
    package func secureClient(as client: String? = nil) throws -> ScriptedClient {
        let client = ScriptedClient(ScriptedPeer(try secureStream(as: client)), on: testbed)
        clients.append(client)
        return client
    }

    /// Sends this from a new client; nothing happens before time passes.
    package func send(_ text: String) throws -> ScriptedClient {
        let client = try connect()
        client.send(text)
        return client
    }

    /// Sends this from a new client and waits for the response.
    package func fetch(_ text: String = get(), eventsMax: Int = 100_000) throws -> ReceivedResponse
    {
        response(of: try send(text), eventsMax: eventsMax)
    }

    /// Sends this from a new client on a unix socket and waits for the response.
    ///
    /// - Parameter listener: the index of its listener in the configuration
    package func fetchFromUnixSocket(
        _ text: String, listener: Int = 0
    ) throws -> ReceivedResponse {
        let path = SocketAddress.unix(path: "/gateway\(listener).sock")
        _ = try instance?.listen(on: path, as: listener, sharedPort: false)
        let client = ScriptedClient(ScriptedPeer(try testbed.connect(to: path)), on: testbed)
        clients.append(client)
        client.send(text)
        return response(of: client)
    }

    /// Lets time pass until a client has its next response or its connection is closed, or until so
    /// many events have happened.
    package func response(of client: ScriptedClient, eventsMax: Int = 100_000) -> ReceivedResponse {
        let count = client.responses.count
        network.run(
            until: { client.responses.count > count || client.isClosed }, eventsMax: eventsMax)
        network.advance(by: .zero)
        return client.responses.count > count ? client.responses[count] : .none
    }

    // MARK: Time

    package func pass(_ milliseconds: Double) {
        testbed.advance(by: .microseconds(Int64(milliseconds * 1000)))
    }

    // MARK: The instance

    /// Runs an action as an event of the gateway's loop.
    package func onInstance(_ action: @escaping (GatewayInstance) -> Void) {
        testbed.perform(on: loop) { [unowned self] in instance.map(action) }
    }

    /// Starts a drain; the closure returns the time at which it ended, if it has.
    package func drain() -> () -> Double? {
        var ended: Double?
        onInstance { [unowned self] instance in
            instance.drain().whenSettled { _ in ended = self.ms }
        }
        return { ended }
    }

    package func stopAccepting() { onInstance { $0.stopAccepting() } }

    package func announceDrain() { onInstance { $0.announceDrain() } }

    package func install(_ config: String, files: [String: String] = [:]) throws {
        let plan = try Self.plan(config, files: files)
        onInstance { $0.install(plan) }
    }

    /// Pending timers of the gateway.
    package var timers: Int { loop.pendingTimers }

    /// `1 running, 2 waiting`
    package func load(of backend: String = "a") throws -> String {
        let state = try state(of: backend)
        return "\(state.running) running, \(state.waiting) waiting"
    }

    package func isBreakerOpen(of backend: String = "a") throws -> Bool {
        try state(of: backend).isOpen
    }

    /// Ejected or unhealthy hosts of a backend.
    package func unavailableHosts(of backend: String = "a") throws -> Int {
        try state(of: backend).unavailableHosts
    }

    /// Connections of the gateway to a backend.
    package func connections(to backend: String = "a") throws -> Int {
        try state(of: backend).connections.count
    }

    private func state(of backend: String) throws -> BackendState {
        let states = try #require(instance).snapshot.backends
        return try #require(states.first { $0.name == backend })
    }

    /// How the calls to a backend ended: `ok 2, queue_full 1`.
    package func outcomes(of backend: String = "a") throws -> String {
        let calls = try #require(instance).snapshot.meter.calls
        return try #require(calls.first { $0.labels == CallLabels(backend: backend) })
            .outcomes.reduce(into: [(name: String, count: Int)]()) { sums, outcome in
                if sums.last?.name == outcome.name {
                    sums[sums.count - 1].count += outcome.count
                } else {
                    sums.append((outcome.name, outcome.count))
                }
            }
            .filter { $0.count > 0 }
            .map { "\($0.name) \($0.count)" }.joined(separator: ", ")
    }

    /// What is counted of the lists of a backend's calls; nil without lists.
    package func lists(of backend: String = "a") throws -> ListMetrics? {
        let calls = try #require(instance).snapshot.meter.calls
        return try #require(calls.first { $0.labels == CallLabels(backend: backend) }).lists
    }

    /// The responses of the endpoints, as counted: `GET /x: 200 once, 502 2 times`.
    package var responseCounts: [String] {
        guard let meter = instance?.snapshot.meter else { return [] }
        return (meter.endpoints + [meter.elsewhere]).filter { !$0.statuses.isEmpty }.map {
            endpoint in
            let counts = endpoint.statuses.map { status in
                "\(status.code) \(status.count == 1 ? "once" : "\(status.count) times")"
            }
            let name = endpoint.name.isEmpty ? "elsewhere" : endpoint.name
            return "\(name): \(counts.joined(separator: ", "))"
        }
    }

    /// The log so far, without the lines that wait to be written.
    package var writtenLog: String { written.text }

    /// The log's lines so far.
    package var logged: [String] {
        log.flush()
        return written.text.split(separator: "\n").map(String.init)
    }

    /// The statuses in the access log: `200`, `499`.
    package var loggedStatuses: [String] {
        logged.compactMap { line in
            line.firstMatch(of: /"status":(\d+)/).map { String($0.1) }
        }
    }

    /// Closes everything and expects that nothing of the gateway is left: no request, no call, no
    /// connection, no timer, no object.
    package func expectQuiet(_ location: SourceLocation = #_sourceLocation) {
        for client in clients { client.leave() }
        network.advance(by: .milliseconds(200))
        if let snapshot = instance?.snapshot {
            #expect(snapshot.requests.isEmpty, sourceLocation: location)
            #expect(snapshot.connections == 0, sourceLocation: location)
            // Of idle connections to backends with TLS.
            #expect(snapshot.bufferedBytes == loop.memory.held, sourceLocation: location)
            for backend in snapshot.backends {
                let load = "\(backend.name): \(backend.running) running, \(backend.waiting) waiting"
                #expect(load == "\(backend.name): 0 running, 0 waiting", sourceLocation: location)
            }
            var isClosed = false
            onInstance { $0.close().whenSettled { _ in isClosed = true } }
            #expect(isClosed, "the instance never closed", sourceLocation: location)
        }
        // Long enough for the log's last batch, too short to hide a forgotten timer of a request.
        network.advance(by: .milliseconds(150))
        let left = network.leftovers.filter { $0.hasPrefix("gateway:") }
        #expect(left == [], sourceLocation: location)
        weak let former = instance
        instance = nil
        for backend in backends.values { backend.close() }
        expectNothingOpen(location)
        #expect(former == nil, "the instance is still referenced", sourceLocation: location)
    }

    private final class Written {
        var text = ""
    }

    package final class Traced {
        package fileprivate(set) var batches: [[TracedRequest]] = []
    }
}

extension ConfigFiles {
    fileprivate init(_ text: String, _ others: [String: String]) {
        self.init(
            read: { path throws(ConfigFileError) in
                if let other = others[path] { return Array(other.utf8) }
                guard path.hasSuffix(".pem") || path.hasSuffix(".key") else {
                    return Array(text.utf8)
                }
                guard let bytes = try? Certificates.file(path) else { throw .notFound }
                return bytes.span.withUnsafeBufferPointer { Array($0) }
            },
            list: { _ throws(ConfigFileError) in throw .notFound })
    }
}

extension String {
    package func indented(_ count: Int) -> String {
        split(separator: "\n").map { String(repeating: " ", count: count) + $0 }
            .joined(separator: "\n")
    }
}

extension ScriptedBackend {
    /// Accepts TLS connections from now on.
    package func secure(_ context: TLSServerContext) {
        secure = { [loop] in context.accept($0, on: loop) }
    }
}
