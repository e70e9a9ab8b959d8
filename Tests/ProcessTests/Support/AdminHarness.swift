import Assembly
import Basics
import Gateway
import HTTP
import HTTPServer
import Promises
import Reactor
import SimReactor
import Testing

@testable import Process

/// The admin server in virtual time, with a process that the test controls.
struct AdminHarness {
    let network = SimNetwork(seed: 1)
    let process: AdministeredTestProcess
    private let pages: AdminPages
    private let server: Server
    private let client: SimLoop
    private let address: SocketAddress

    /// - Parameters:
    ///   - workers: the number of workers
    ///   - token: the secret of requests; nil if they need none
    init(workers: Int = 1, token: String? = nil) throws {
        let loop = network.makeLoop("control")
        client = network.makeLoop("client")
        process = try AdministeredTestProcess(on: network, loop, workers: workers)
        pages = AdminPages(of: process, on: loop, hosts: ["ops.example.com"], token: token)
        server = Server(loop: loop, service: pages.respond)
        address = try server.listen(on: .ip(.v4(0x7F00_0001), port: 9901))
    }

    /// The response to a request: its head and its body.
    func ask(
        _ request: String, host: String = "localhost", _ fields: [String] = []
    ) throws -> (status: Int, head: String, body: String) {
        var peer: ScriptedPeer?
        client.timer(after: .zero) { [client, address] in
            client.connect(to: address).onValue { peer = ScriptedPeer($0) }.catch { _ in }
        }
        network.run(until: { peer != nil })
        let connected = try #require(peer)
        let lines = ["\(request) HTTP/1.1", "Host: \(host)", "Connection: close"] + fields
        connected.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        network.run(until: { connected.hasEnded })
        connected.stream.close()
        let parts = connected.text.split(separator: "\r\n\r\n", maxSplits: 1)
        let head = String(try #require(parts.first))
        let status = try #require(Int(head.dropFirst("HTTP/1.1 ".count).prefix(3)))
        return (status, head, parts.count > 1 ? String(parts[1]) : "")
    }

    /// Delivers the snapshot of a worker a while after the next request, which then waits for it.
    func deliver(_ snapshot: WorkerSnapshot, from worker: Int = 0) {
        client.timer(after: .milliseconds(100)) { [process] in
            process.monitor.received(snapshot, from: worker)
        }
    }
}

/// A process whose workers never answer on their own.
final class AdministeredTestProcess: AdministeredProcess {
    var isServing: Bool { phase == .serving }
    var phase = ProcessPhase.serving
    var outcome = ReloadOutcome.done
    private(set) var reloadCount = 0
    let monitor: WorkerMonitor
    let logLevel: LogLevelControl
    let workers: [WorkerHandle]
    /// Never opened, so that the messages to the workers stay in them.
    private let inboxes: [SimInbox<WorkerMessage>]
    var requiredBackends: [String] = []
    /// Whether the pages describe the plan of `config`, instead of a fixed text.
    var compilesPlan = false
    var reloadStatus = ReloadStatus(loadedAt: 1_000_000_000)
    var config: RecordedConfig
    /// The file of the configuration as it is now.
    var file: String = AdministeredTestProcess.text

    static let text = """
        version: 1
        backends: { a: { url: "http://127.0.0.1:7001", headers: { X-Key: s3cr3t } } }
        endpoints:
          - route: GET /x
            calls: { one: { from: a, get: / } }

        """

    init(on network: SimNetwork, _ loop: SimLoop, workers count: Int) throws {
        let log = Log(level: .error, format: .text, clock: { 0 }, sink: { _ in })
        monitor = WorkerMonitor(loop: loop, log: log)
        logLevel = LogLevelControl(.warning, loop: loop, log: log)
        let names = SharedResources(names: network.makeNameService())
        let inboxes = (0..<count).map { _ in SimInbox<WorkerMessage>(on: network) }
        workers = inboxes.enumerated().map { index, inbox in
            let setup = WorkerSetup(
                index: index, of: count, shared: names, control: SimInbox(on: network),
                log: SimInbox(on: network))
            return WorkerHandle(setup, inbox: inbox)
        }
        self.inboxes = inboxes
        config = Self.recorded(Self.text)
        for worker in workers { monitor.add(worker) }
    }

    static func recorded(_ text: String) -> RecordedConfig {
        let recording = ConfigRecording(files: files(text)) { _ in nil }
        _ = ConfigLoader.load(
            "c.yaml", files: recording.files, environment: recording.environment,
            contexts: recording.contexts)
        return recording.recorded("c.yaml", processors: 1)
    }

    private static func files(_ text: String) -> ConfigFiles {
        ConfigFiles(
            read: { path throws(ConfigFileError) in
                guard path == "c.yaml" else { throw .notFound }
                return Array(text.utf8)
            },
            list: { _ throws(ConfigFileError) in throw .notFound })
    }

    var facts: ProcessFacts {
        ProcessFacts(
            version: "1.2.3", digest: "0123456789abcdef",
            log: LogCounts(linesDropped: 5),
            descriptors: ProcessFacts.Descriptors(limit: 64, open: 7))
    }

    var identity: ProcessIdentity {
        ProcessIdentity(
            instance: "shop-7", version: "1.2.3", config: "shop.yaml", configAge: .seconds(90))
    }

    var diagnostics: ProcessDiagnostics {
        ProcessDiagnostics(
            phase: phase, requiredBackends: requiredBackends, processID: 42, uptime: .seconds(3),
            build: [("version", "1.2.3")], config: config, files: Self.files(file),
            reload: reloadStatus,
            descriptions: compilesPlan
                ? PlanInspector().descriptions(of: config, workers: 1)
                : PlanDescriptions(
                    summary: { .success("OK  1 endpoint\nGET /x\n") },
                    explanation: { method, target in .success("\(method) \(target)\n") }))
    }

    func reload() -> LocalPromise<ReloadOutcome> {
        reloadCount += 1
        return monitor.local.value(outcome)
    }
}
