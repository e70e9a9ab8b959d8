import Assembly
import Basics
import Gateway
import HTTPClient
import SimReactor
import Testing

@testable import Process

/// `/readyz` and its checks.
@Suite struct ReadinessTests {
    private func snapshot(isUsable: Bool, isRequired: Bool = true) -> WorkerSnapshot {
        WorkerSnapshot(
            meter: WorkerMetrics(endpointNames: []), backends: [],
            backendDetails: [
                BackendDetail(
                    name: "stock", isUsable: isUsable, isRequiredForReadiness: isRequired,
                    hosts: [])
            ],
            connections: 0, bufferedBytes: 0, requests: [])
    }

    @Test func failsWhileARequiredBackendIsDown() throws {
        let admin = try AdminHarness()
        admin.process.requiredBackends = ["stock"]
        admin.deliver(snapshot(isUsable: true))
        #expect(try admin.ask("GET /readyz").body == "ready\n")
        admin.deliver(snapshot(isUsable: false))
        let response = try admin.ask("GET /readyz")
        #expect(response.status == 503 && response.body == "no host of stock is usable\n")
        #expect(try admin.ask("GET /livez").status == 200)
    }

    /// A worker that cannot reach the backend for a moment does not take the process out of service.
    @Test(arguments: [([true, true], 200), ([true, false], 200), ([false, false], 503)])
    func backendIsDownIfNoWorkerCanUseIt(_ usable: [Bool], _ status: Int) throws {
        let admin = try AdminHarness(workers: 2)
        admin.process.requiredBackends = ["stock"]
        for (worker, isUsable) in usable.enumerated() {
            admin.deliver(snapshot(isUsable: isUsable), from: worker)
        }
        #expect(try admin.ask("GET /readyz").status == status)
    }

    @Test func ignoresBackendsThatAreNotRequired() throws {
        let admin = try AdminHarness()
        let began = admin.network.clock.now
        #expect(try admin.ask("GET /readyz").status == 200)
        #expect(
            admin.network.clock.now - began < WorkerMonitor.snapshotLimit, "it waits for no worker")
        // A configuration that a worker has not installed yet.
        admin.process.requiredBackends = ["stock"]
        admin.deliver(snapshot(isUsable: false, isRequired: false))
        #expect(try admin.ask("GET /readyz").status == 200)
    }

    /// A worker that hangs delays the response by half a second at most.
    @Test func respondsWithinASecondWhileAWorkerHangs() throws {
        let admin = try AdminHarness(workers: 2)
        admin.process.requiredBackends = ["stock"]
        admin.deliver(snapshot(isUsable: false), from: 1)
        let began = admin.network.clock.now
        let response = try admin.ask("GET /readyz")
        #expect(admin.network.clock.now - began < .seconds(1))
        #expect(response.status == 503 && response.body == "no host of stock is usable\n")
    }

    @Test func verboseListsEveryCheck() throws {
        let admin = try AdminHarness()
        #expect(try admin.ask("GET /readyz?verbose").body == "serving: ok\nworkers: ok\n")
        #expect(try admin.ask("GET /livez?verbose").body == "workers: ok\n")
        admin.process.phase = .draining
        admin.process.requiredBackends = ["stock"]
        admin.process.monitor.startHeartbeats()
        admin.network.advance(by: .seconds(3))
        admin.deliver(snapshot(isUsable: false))
        let response = try admin.ask("GET /readyz?verbose")
        #expect(response.status == 503)
        #expect(
            response.body == """
                serving: failed: draining
                workers: failed: worker 0 does not answer
                backend stock: failed: no host of stock is usable

                """)
    }

    /// A probe accepts every host and no token, so it must not reveal names to those requests.
    @Test func verboseNeedsWhatOtherPagesNeed() throws {
        let open = try AdminHarness()
        #expect(try open.ask("GET /readyz?verbose", host: "evil.example").body == "ready\n")
        let closed = try AdminHarness(token: "0123456789abcdef")
        #expect(try closed.ask("GET /readyz?verbose").body == "ready\n")
        let credentials = ["Authorization: Bearer 0123456789abcdef"]
        #expect(
            try closed.ask("GET /readyz?verbose", credentials).body
                == "serving: ok\nworkers: ok\n")
        let refused = try closed.ask("GET /-/dump")
        #expect(refused.status == 401)
        #expect(refused.head.contains("\r\nWWW-Authenticate: Bearer\r\n"))
        closed.process.phase = .starting
        #expect(try closed.ask("GET /readyz?verbose").body == "starting\n")
    }
}
