import Assembly
import Basics
import Gateway
import Promises
import Reactor
import SimReactor

extension FuzzTarget {
    /// A request that `proxy` passes through, with the bytes and the actions of its client and its
    /// backend from the input, in virtual time. See `ProxyRun` for the steps.
    static let proxy = FuzzTarget(
        name: "proxy",
        tokens: [
            "c\u{40}GET /x/a HTTP/1.1\r\nHost: a\r\n\r\n",
            "c\u{50}POST /x/a HTTP/1.1\r\nHost: a\r\n",
            "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n",
            "Connection: Upgrade\r\nUpgrade: websocket\r\n", "Expect: 100-continue\r\n",
            "TE: trailers\r\n", "Range: bytes=1-2\r\n", "HTTP/1.0", "\r\n", "5\r\nhello\r\n",
            "0\r\n\r\n",
            "0\r\nX-T: 1\r\n\r\n", "b\u{40}HTTP/1.1 200 OK\r\n",
            "b\u{40}HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n", "C\u{ff}",
            "B\u{ff}",
            "p\u{0}", "r\u{0}", "P\u{0}", "R\u{0}", "f\u{0}", "F\u{0}", "k\u{0}", "K\u{0}",
            "z\u{0}",
            "Z\u{0}", "t\u{10}", "T\u{10}", "n\u{0}",
        ]
    ) { input in
        do {
            return try ProxyRun(input).violation()
        } catch {
            return "no gateway: \(error)"
        }
    }
}

/// A gateway with one route, a client and a backend that perform the steps of an input.
///
/// A step is a byte that names it and a byte with a number; the bytes to send follow.
private final class ProxyRun {
    private let input: [UInt8]
    private let network: SimNetwork
    private let peers: SimLoop
    private let loop: SimLoop
    private let instance: GatewayInstance
    private let address: SocketAddress
    private var listener: (any Listener)?
    private var client: ScriptedPeer?
    private var clients: [ScriptedPeer] = []
    private var backends: [ScriptedPeer] = []

    /// The windows of the kernel, the bytes that each direction may store, and a read of each.
    private static let bytesMax = 300_000
    private static let stepsMax = 64
    /// Of the bytes of `C` and `B`, each of which sends a multiple of it.
    private static let pieceBytes = 256

    private static let config = """
        version: 1
        backends: { a: { url: "http://127.0.0.1:7001", max_concurrent: 4 } }
        endpoints:
          - route: ANY /x/*
            proxy:
              to: a
              path: /*
              timeout: 1s
              idle_timeout: 2s
              max_body: 100KiB
              upgrade: [websocket]
              retry: { attempts: 2 }
        """

    private struct NotLoaded: Error {}

    init(_ input: [UInt8]) throws {
        self.input = input
        network = SimNetwork(seed: 1)
        // Small, so that unread bytes cause back-pressure.
        network.settings.windowBytes = 8 * 1024
        loop = network.makeLoop("gateway")
        peers = network.makeLoop("outside")
        let files = ConfigFiles(
            read: { _ throws(ConfigFileError) in Array(Self.config.utf8) },
            list: { _ throws(ConfigFileError) in throw .notFound })
        let (config, _) = ConfigLoader.load("c.yaml", files: files) { _ in nil }
        guard let config else { throw NotLoaded() }
        instance = GatewayInstance(
            try Planner.plan(config, processors: 1), loop: loop,
            log: Log(level: .error, format: .json, clock: { 0 }) { _ in },
            shared: SharedResources(names: network.makeNameService()))
        address = try instance.listen(on: .ip(.v4(0x7F00_0001), port: 8080), sharedPort: false)
        listener = try peers.listen(on: .ip(.v4(0x7F00_0001), port: 7001), sharedPort: false) {
            [unowned self] in backends.append(ScriptedPeer($0))
        }
    }

    /// A description of what is wrong; nil if nothing is.
    func violation() -> String? {
        connect()
        var position = 0
        var steps = 0
        while position + 1 < input.count, steps < Self.stepsMax {
            let number = Int(input[position + 1])
            let end = perform(input[position], number, from: position + 2)
            position = end
            steps += 1
            pass(milliseconds: 1)
            let held = instance.snapshot.bufferedBytes
            if held > Self.bytesMax { return "\(held) buffered bytes" }
        }
        let heads = backends.compactMap { headViolation(in: $0.received) }
        let responses = clients.compactMap { responseViolation(in: $0.received) }
        return heads.first ?? responses.first ?? leftovers()
    }

    // MARK: Steps

    /// Performs a step; returns the position of the next one.
    private func perform(_ step: UInt8, _ number: Int, from start: Int) -> Int {
        let backend = backends.last
        switch step {
        case UInt8(ascii: "c"), UInt8(ascii: "b"):
            let end = min(start + number, input.count)
            send(Array(input[start..<end]), from: step == UInt8(ascii: "c") ? client : backend)
            return end
        case UInt8(ascii: "C"): send(piece(number), from: client)
        case UInt8(ascii: "B"): send(piece(number), from: backend)
        case UInt8(ascii: "n"): connect()
        case UInt8(ascii: "p"): act { self.client?.stream.pauseReading() }
        case UInt8(ascii: "r"): act { self.client?.stream.resumeReading() }
        case UInt8(ascii: "P"): act { backend?.stream.pauseReading() }
        case UInt8(ascii: "R"): act { backend?.stream.resumeReading() }
        case UInt8(ascii: "f"): act { self.client?.stream.finishWriting() }
        case UInt8(ascii: "F"): act { backend?.stream.finishWriting() }
        case UInt8(ascii: "k"): act { self.client?.stream.close() }
        case UInt8(ascii: "K"): act { backend?.stream.close() }
        case UInt8(ascii: "z"): act { (self.client?.stream as? SimStream)?.reset() }
        case UInt8(ascii: "Z"): act { (backend?.stream as? SimStream)?.reset() }
        case UInt8(ascii: "t"): pass(milliseconds: number)
        case UInt8(ascii: "T"): pass(milliseconds: number * 20)
        default: break
        }
        return start
    }

    private func piece(_ number: Int) -> [UInt8] {
        Array(repeating: UInt8(ascii: "x"), count: number * Self.pieceBytes)
    }

    private func send(_ bytes: [UInt8], from peer: ScriptedPeer?) {
        guard !bytes.isEmpty else { return }
        act { peer?.stream.write(bytes.span) }
    }

    private func act(_ action: @escaping () -> Void) { peers.timer(after: .zero, action) }

    private func pass(milliseconds: Int) { network.advance(by: .milliseconds(milliseconds)) }

    /// Further steps of the client are those of a new connection.
    private func connect() {
        act { [self] in
            peers.connect(to: address).whenSettled { [self] result in
                guard case .success(let stream) = result else { return }
                let peer = ScriptedPeer(stream)
                client = peer
                clients.append(peer)
            }
        }
        pass(milliseconds: 1)
    }

    // MARK: Rules

    /// Whether the gateway sent a head that servers could read in different ways.
    private func headViolation(in bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: Unicode.ASCII.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].split(
            separator: "\r\n", omittingEmptySubsequences: false)
        let names = lines.dropFirst().map { $0.prefix { $0 != ":" }.lowercased() }
        guard let first = lines.first, first.hasSuffix(" HTTP/1.1"),
            first.split(separator: " ", omittingEmptySubsequences: false).count == 3
        else { return "a request line: \(lines.first ?? "")" }
        for line in lines where line.contains(where: { $0 == "\r" || $0 == "\n" || $0 == "\0" }) {
            return "a control character: \(line)"
        }
        guard names.count(where: { $0 == "host" }) == 1 else { return "Host: \(lines)" }
        let framing = names.count { $0 == "content-length" || $0 == "transfer-encoding" }
        guard framing <= 1 else { return "framing: \(lines)" }
        guard names.contains("via") else { return "not by the gateway: \(lines)" }
        return nil
    }

    private func responseViolation(in bytes: [UInt8]) -> String? {
        let start = Array("HTTP/1.1 ".utf8)
        let isResponse = bytes.prefix(start.count).elementsEqual(start.prefix(bytes.count))
        return isResponse
            ? nil : "no response: \(String(decoding: bytes.prefix(40), as: UTF8.self))"
    }

    /// What is left after both peers are gone.
    private func leftovers() -> String? {
        act { [self] in
            for peer in clients + backends { peer.stream.close() }
        }
        pass(milliseconds: 60_000)
        let snapshot = instance.snapshot
        let calls = snapshot.backends.reduce(0) { $0 + $1.running + $1.waiting }
        guard snapshot.requests.isEmpty, snapshot.connections == 0, snapshot.bufferedBytes == 0,
            calls == 0
        else {
            return "left: \(snapshot.requests.count) requests, \(snapshot.connections) connections,"
                + " \(snapshot.bufferedBytes) bytes, \(calls) calls"
        }
        act { [self] in
            listener.take()?.close()
            for peer in backends { peer.stream.close() }
        }
        loop.timer(after: .zero) { [instance] in instance.close().whenSettled { _ in } }
        pass(milliseconds: 60_000)
        let left = network.leftovers
        return left.isEmpty ? nil : "left: \(left)"
    }
}
