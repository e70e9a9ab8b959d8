import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// A backend that shuts its connections down while calls are in progress, at every moment: each call
/// gets its response, and no request is processed twice (RFC 9113 6.8 and 8.7).
@Suite struct GoAwayTests {
    /// GOAWAY comes with every `spacing`-th request, so each of as many runs covers other moments.
    static let spacing = 20

    /// How a backend shuts a connection down when a request arrives.
    enum Shutdown: CaseIterable {
        /// The request is the last that is processed; or the one before it.
        case behind, before
        /// The highest id first, then that of the last request.
        case graceful
    }

    @Test(arguments: Shutdown.allCases) func goAwayAtEveryMomentLosesNoCall(
        _ shutdown: Shutdown
    ) throws {
        var moments = 0
        for first in 0..<Self.spacing {
            let load = try Load(shutdown, first: first)
            load.run()
            #expect(load.failed == [], "first GOAWAY at request \(first)")
            #expect(load.repeated == [], "first GOAWAY at request \(first)")
            #expect(load.completed == Load.calls)
            moments += load.shutdowns
        }
        // Every request but those that were sent again had its GOAWAY once.
        #expect(moments >= Load.calls)
    }

    /// 1,000 calls, of which some are always in progress; every second one is not idempotent.
    private final class Load {
        static let calls = 1000
        private static let atOnce = 12

        private let harness: H2PoolHarness
        private let shutdown: Shutdown
        private var untilShutdown: Int
        private var started = 0
        private(set) var completed = 0
        private(set) var shutdowns = 0
        /// Outcomes that are no response to their call.
        private(set) var failed: [String] = []
        /// The last stream that each connection serves.
        private var last: [Int: UInt32] = [:]
        private var processed: Set<String> = []
        /// Requests that were processed twice.
        private(set) var repeated: [String] = []

        init(_ shutdown: Shutdown, first: Int) throws {
            self.shutdown = shutdown
            untilShutdown = first
            harness = try H2PoolHarness(seed: UInt64(first)) { _ in }
            harness.backend.script = { [unowned self] in arrived($0) }
        }

        func run() {
            for _ in 0..<Self.atOnce { startNext() }
            harness.network.run(until: { completed == Self.calls })
            harness.expectQuiet()
        }

        private func startNext() {
            guard started < Self.calls else { return }
            let path = "/\(started)"
            let method: HTTP.Method = started % 2 == 0 ? .get : .post
            started += 1
            harness.pool.send(ClientRequest(method, path)).whenSettled { [self] result in
                completed += 1
                switch result {
                case .success(let response) where String(response.content) == path: break
                case .success(let response): failed.append("\(path): \(response.content)")
                case .failure(let error): failed.append("\(path): \(error)")
                }
                startNext()
            }
        }

        private func arrived(_ exchange: H2BackendExchange) {
            let connection = exchange.connection
            if untilShutdown == 0 {
                untilShutdown = GoAwayTests.spacing
                shutdowns += 1
                shutDown(exchange)
            }
            untilShutdown -= 1
            guard exchange.id <= last[connection.number] ?? .max else { return }
            if !processed.insert(exchange.path).inserted { repeated.append(exchange.path) }
            // In another order than they arrive.
            let delay = Duration.milliseconds(Int64(exchange.path.utf8.last ?? 0) % 7)
            harness.backend.loop.timer(after: delay) {
                exchange.respond(exchange.path)
                connection.flush()
            }
        }

        private func shutDown(_ exchange: H2BackendExchange) {
            let connection = exchange.connection
            guard last[connection.number] == nil else { return }
            switch shutdown {
            case .behind: goAway(connection, lastID: exchange.id)
            case .before: goAway(connection, lastID: exchange.id > 1 ? exchange.id - 2 : 0)
            case .graceful:
                send(connection, lastID: 0x7FFF_FFFF)
                harness.backend.loop.timer(after: .milliseconds(3)) { [self] in
                    goAway(connection, lastID: UInt32(connection.side.streams.count * 2 - 1))
                }
            }
        }

        private func goAway(_ connection: H2BackendConnection, lastID: UInt32) {
            guard last[connection.number] == nil else { return }
            last[connection.number] = lastID
            send(connection, lastID: lastID)
        }

        private func send(_ connection: H2BackendConnection, lastID: UInt32) {
            var frames = H2Frames()
            frames.append(.goAway, on: 0, H2Frames.bigEndian(lastID) + H2Frames.bigEndian(0))
            connection.send(frames)
        }
    }
}
