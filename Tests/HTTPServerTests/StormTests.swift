import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// Clients that send mutated requests in pieces, then stop, half-close or disconnect, and a service
/// that responds at once, later, with a large body or with a failure; on a server that finally
/// drains.
@Suite struct StormTests {
    @Test(arguments: 0..<UInt64(60))
    func everyConnectionEndsAndEveryRequestIsLoggedOnce(seed: UInt64) throws {
        let chance = Entropy(seed: seed &* 7919 &+ 1)
        let harness = try ServerHarness(seed: seed, settings(chance)) {
            harness, request, exchange in
            let behavior = ServiceBehavior.allCases[chance.below(ServiceBehavior.allCases.count)]
            return behavior.respond(harness, request, exchange, chance)
        }
        harness.network.settings.split = chance.chance(oneIn: 2) ? .random : .whole
        harness.network.settings.windowBytes = 200 + chance.below(20_000)

        var peers: [ScriptedPeer] = []
        for _ in 0..<30 {
            let peer = try harness.connect()
            peers.append(peer)
            runClient(peer, harness, chance)
        }
        harness.advance(chance.chance(oneIn: 2) ? 0 : 1000)
        let honest = try harness.connect()
        honest.send(get("/honest"))
        var isDrained = false
        harness.onServer { harness.server.drain().whenSettled { _ in isDrained = true } }
        harness.advance(120_000)

        #expect(isDrained && harness.server.connectionCount == 0)
        #expect(harness.server.requestsInFlight == 0)
        #expect(harness.log.count { !$0.hasPrefix("refused") } >= harness.requests.count)
        let responses = peers.flatMap(messages).count
        #expect(0 < responses && responses <= harness.log.count && !harness.requests.isEmpty)
        #expect(honest.hasEnded || !honest.failures.isEmpty)
    }

    private func settings(_ chance: Entropy) -> ServerSettings {
        var settings = ServerSettings()
        settings.readAheadBytes = 100 + chance.below(2000)
        settings.discardedBytes = chance.below(2000)
        settings.requestsInFlight = chance.chance(oneIn: 4) ? 3 : 1000
        settings.connections = chance.chance(oneIn: 4) ? 10 : 1000
        return settings
    }

    // MARK: Clients

    private static let messages = [
        get("/a"), get("/b", "Connection: close\r\n"), "GET /c HTTP/1.0\r\n\r\n",
        post("Content-Length: 5\r\n", "hello"),
        post("Transfer-Encoding: chunked\r\n", "5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\n"),
        post("Expect: 100-continue\r\nContent-Length: 3\r\n", "abc"),
        post("Content-Length: 3000\r\n", String(repeating: "z", count: 3000)),
        get("/d", "Content-Length: 40\r\n") + get("/inside-the-body", "X: y\r\n"),
    ]

    private func runClient(_ peer: ScriptedPeer, _ harness: ServerHarness, _ chance: Entropy) {
        var bytes: [UInt8] = []
        for _ in 0...chance.below(5) {
            bytes += Self.messages[chance.below(Self.messages.count)].utf8
        }
        if chance.chance(oneIn: 3) { mutate(&bytes, chance) }
        if chance.chance(oneIn: 4) { bytes.removeLast(chance.below(bytes.count)) }
        if chance.chance(oneIn: 4) { peer.stream.pauseReading() }
        while !bytes.isEmpty {
            let count = 1 + chance.below(bytes.count)
            peer.stream.write(bytes.span.extracting(0..<count))
            bytes.removeFirst(count)
            harness.advance(chance.chance(oneIn: 20) ? 5000 : chance.below(3))
        }
        switch chance.below(6) {
        case 0: peer.stream.finishWriting()
        case 1: peer.stream.close()
        case 2: (peer.stream as? SimStream)?.reset()
        case 3: peer.stream.resumeReading()
        default: break
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ chance: Entropy) {
        let place = chance.below(bytes.count)
        switch chance.below(4) {
        case 0: bytes[place] = UInt8(chance.below(256))
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(bytes[place], at: place)
        default: bytes.insert(Array("\r\n :;,0\0\t5".utf8)[chance.below(10)], at: place)
        }
    }

    /// The final responses of a client; each begins with a valid status line.
    private func messages(_ peer: ScriptedPeer) -> [String] {
        let responses = summary(of: peer).split(separator: " | ").map(String.init)
        let finals = responses.filter { !$0.hasPrefix("+") && !$0.hasPrefix("!") }
        // A truncated response is allowed, since its client or its connection ended before.
        for response in finals where !response.hasPrefix("garbage") {
            #expect(Int(response.prefix(3)).map { 200..<600 ~= $0 } ?? false, "\(response)")
        }
        return finals.filter { !$0.hasPrefix("garbage") }
    }

    // MARK: The service

    private enum ServiceBehavior: CaseIterable {
        case echo, echoBody, later, tooMuch, failure, bodyLater

        func respond(
            _ harness: ServerHarness, _ request: Request, _ exchange: Exchange, _ chance: Entropy
        ) -> LocalPromise<Response> {
            let delay = Duration.milliseconds(chance.below(4000))
            switch self {
            case .echo: return ServerHarness.echo(harness, request, exchange)
            case .echoBody: return ServerHarness.echoBody(harness, request, exchange)
            case .later: return ServerHarness.echo(harness, request, exchange).delayed(by: delay)
            case .tooMuch:
                let body = [UInt8](repeating: 97, count: 30_000)
                return exchange.local.value(Response(status: .ok, body: Bytes(body)))
            case .failure: return exchange.local.error(PromiseError.abandoned)
            case .bodyLater:
                return exchange.local.value(()).delayed(by: delay).then {
                    ServerHarness.echoBody(harness, request, exchange)
                }
            }
        }
    }
}
