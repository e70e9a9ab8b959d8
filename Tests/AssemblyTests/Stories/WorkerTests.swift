import Assembly
import Basics
import Gateway
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

/// A worker between its inbox and that of the control loop, in virtual time.
@Suite struct WorkerTests {
    /// In place of the control loop.
    private final class Control: MessageReceiver {
        private(set) var events: [WorkerEvent] = []

        func receive(_ message: ControlMessage) { events.append(message.event) }

        /// `listening`, `ended`
        var names: [String] {
            events.map { event in "\(event)".prefix { $0 != "(" }.description }
        }
    }

    private final class LogLines: MessageReceiver {
        private(set) var text = ""

        func receive(_ message: [UInt8]) { text += String(decoding: message, as: UTF8.self) }
    }

    private let network = SimNetwork(seed: 1)
    private let loop: SimLoop
    /// The loop of the control loop and the log.
    private let outside: SimLoop
    private let control = Control()
    private let lines = LogLines()
    private let setup: WorkerSetup
    private let inbox: SimInbox<WorkerMessage>
    private let handle: WorkerHandle
    private let address: SocketAddress

    init() throws {
        let shared = SharedResources(names: network.makeNameService())
        loop = network.makeLoop("worker", names: shared.names)
        let controlInbox = SimInbox<ControlMessage>(on: network)
        let logInbox = SimInbox<[UInt8]>(on: network)
        inbox = SimInbox(on: network)
        outside = network.makeLoop("outside")
        controlInbox.open(on: outside, for: control)
        logInbox.open(on: outside, for: lines)
        setup = WorkerSetup(
            index: 0, of: 1, shared: shared, control: controlInbox, log: logInbox)
        handle = WorkerHandle(setup, inbox: inbox)
        let worker = try Worker(setup, compiling: Self.config("/x"), on: loop) { [inbox] in
            inbox.close()
        }
        inbox.open(on: loop, for: worker)
        address = try #require(worker.instance).listen(
            on: .ip(.v4(0x7F00_0001), port: 8080), sharedPort: false)
    }

    /// One endpoint without calls that can succeed; `text` replaces the file afterwards.
    private static func config(_ path: String, instead text: String? = nil) -> RecordedConfig {
        let good = """
            version: 1
            backends: { a: { url: "http://127.0.0.1:7001" } }
            endpoints:
              - route: GET \(path)
                calls: { one: { from: a, get: / } }
            """
        let files = ConfigFiles(
            read: { _ throws(ConfigFileError) in Array((text ?? good).utf8) },
            list: { _ throws(ConfigFileError) in throw .notFound })
        let recording = ConfigRecording(files: files) { _ in nil }
        _ = ConfigLoader.load(
            "c.yaml", files: recording.files, environment: recording.environment,
            contexts: recording.contexts)
        return recording.recorded("c.yaml", processors: 1)
    }

    private static func plan(_ path: String, instead text: String? = nil) throws -> CompiledPlan {
        try #require(CompiledPlan(config(path, instead: text), workers: 1))
    }

    private func status(of path: String) throws -> Substring {
        let client = network.makeLoop("client")
        var peer: ScriptedPeer?
        client.timer(after: .zero) { [address] in
            client.connect(to: address).onValue { peer = ScriptedPeer($0) }.catch { _ in }
        }
        network.run(until: { peer != nil })
        let connected = try #require(peer)
        connected.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        network.run(until: { connected.hasEnded })
        connected.stream.close()
        return connected.text.dropFirst("HTTP/1.1 ".count).prefix(3)
    }

    private func pass() { network.advance(by: .milliseconds(1)) }

    @Test func installsAConfigurationThatItReceives() throws {
        #expect(try status(of: "/y") == "404")
        #expect(handle.send(.install(try Self.plan("/y"))))
        #expect(try status(of: "/y") != "404")
        #expect(control.names == [])
    }

    @Test func anInvalidConfigurationHasNoPlan() {
        let config = Self.config("/y", instead: "version: 1\nendpoints: 7\n")
        #expect(CompiledPlan(config, workers: 1) == nil)
    }

    @Test func sendsRequestedSnapshots() throws {
        #expect(try status(of: "/nowhere") == "404")
        pass()
        handle.send(.takeSnapshot)
        pass()
        guard case .snapshot(let snapshot)? = control.events.last else {
            Issue.record("no snapshot")
            return
        }
        #expect(snapshot.meter.elsewhere.statuses.map(\.code) == [404])
    }

    @Test func sendsLogLinesToTheLogInbox() throws {
        #expect(try status(of: "/nowhere") == "404")
        #expect(!lines.text.contains(#""path":"/nowhere""#), "lines are batched first")
        network.advance(by: .milliseconds(200))
        #expect(lines.text.contains(#""path":"/nowhere""#))
    }

    @Test func passesSampledRequestsToTheControlLoop() throws {
        func install(_ sample: String) throws {
            let text = """
                version: 1
                traces: { otlp: "http://127.0.0.1:4318/v1/traces", sample: \(sample) }
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints: [{ route: GET /x, calls: { one: { from: a, get: / } } }]
                """
            handle.send(.install(try Self.plan("/x", instead: text)))
            pass()
        }
        try install("0%")
        #expect(try status(of: "/nowhere") == "404")
        network.advance(by: .milliseconds(300))
        #expect(control.names == [])
        try install("100%")
        #expect(try status(of: "/nowhere") == "404")
        network.advance(by: .milliseconds(300))
        #expect(control.names == ["traced"])
        // The end passes on what is collected.
        #expect(try status(of: "/nowhere") == "404")
        handle.send(.close)
        pass()
        #expect(control.names == ["traced", "traced"])
    }

    @Test(arguments: [false, true])
    func endsOnceAndRefusesLaterMessages(_ drains: Bool) {
        handle.send(drains ? .drain : .close)
        // Messages sent before the end arrive and have no effect.
        #expect(handle.send(.close) && handle.send(.takeSnapshot))
        pass()
        network.advance(by: .seconds(1))
        #expect(!handle.send(.heartbeat(1)), "the loop has ended")
        #expect(network.runUntilQuiet())
        #expect(loop.leftovers == [])
        #expect(control.names == [], "its thread reports the end")
    }

    @Test func failsToStartWithoutAPlan() {
        #expect(throws: WorkerFailure.self) {
            _ = try Worker(
                setup, compiling: Self.config("/x", instead: "version: 9"), on: loop, onEnd: {})
        }
    }
}
