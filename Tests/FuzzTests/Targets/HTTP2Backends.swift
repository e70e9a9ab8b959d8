import Basics
import HTTP
import HTTPClient
import Promises
import Reactor
import SimReactor

extension FuzzTarget {
    /// A pool with HTTP/2 connections to a backend whose frames come from the input, in virtual
    /// time. See `HTTP2BackendRun` for the steps.
    static let http2Backend = FuzzTarget(
        name: "http2-backend",
        tokens: [
            "o\u{0}", "q\u{0}", "q\u{1}", "q\u{2}", "q\u{3}", "x\u{0}", "k\u{0}", "R\u{0}",
            "h\u{1}", "h\u{3}", "H\u{1}", "d\u{1}", "e\u{1}", "e\u{3}", "a\u{0}", "P\u{0}",
            "t\u{40}", "T\u{7f}",
            "f\u{4}\u{3}\u{0}\u{1}\u{0}\u{0}\u{0}\u{7}",
            "f\u{4}\u{3}\u{0}\u{1}\u{0}\u{0}\u{0}\u{8}",
            "f\u{4}\u{3}\u{0}\u{3}\u{0}\u{0}\u{0}\u{d}",
            "f\u{8}\u{7}\u{0}\u{0}\u{0}\u{0}\u{0}\u{1}\u{0}\u{0}\u{0}\u{0}",
            "f\u{8}\u{7}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{b}",
            "f\u{8}\u{6}\u{0}\u{0}12345678", "f\u{4}\u{8}\u{0}\u{0}\u{0}\u{0}\u{10}\u{0}",
            "f\u{6}\u{4}\u{0}\u{0}\u{0}\u{3}\u{0}\u{0}\u{0}\u{1}",
            "\u{0}\u{7}:status\u{3}103", "\u{0}\u{e}content-length\u{1}5",
        ]
    ) { HTTP2BackendRun($0).violation() }
}

/// A pool and a backend that performs the steps of an input.
private final class HTTP2BackendRun: HTTP2Steps {
    let input: [UInt8]
    let network = SimNetwork(seed: 1)
    private let loop: SimLoop
    let peers: SimLoop
    private let pool: Pool
    private var listener: (any Listener)?
    /// The backend's ends of all connections.
    private var connections: [ScriptedPeer] = []
    var peer: ScriptedPeer? { connections.last }
    private var calls: [LocalPromise<ClientResponse>] = []
    private var sources: [any BodySource] = []
    private var settled = 0

    private static let stepsMax = 64
    private static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 8080)

    init(_ input: [UInt8]) {
        self.input = input
        network.settings.windowBytes = 8 * 1024
        loop = network.makeLoop("client")
        peers = network.makeLoop("backend")
        var settings = PoolSettings()
        settings.protocolChoice = .http2
        settings.http2.maxStreams = 4
        settings.http2.maxConnections = 2
        pool = Pool(origin: Origin(host: "127.0.0.1", port: 8080), settings: settings, loop: loop)
        listener = try? peers.listen(on: Self.address, sharedPort: false) { [weak self] stream in
            self?.connections.append(ScriptedPeer(stream))
        }
    }

    /// A description of what is wrong; nil if nothing is.
    func violation() -> String? {
        var position = 0
        for _ in 0..<Self.stepsMax where position + 1 < input.count {
            position = perform(input[position], input[position + 1], from: position + 2)
            pass(1)
        }
        loop.timer(after: .zero) { [self] in
            for source in sources { source.cancel() }
            for call in calls { call.cancel() }
            sources = []
        }
        pass(10)
        pool.close()
        listener?.close()
        for connection in connections { connection.stream.close() }
        pass(60_000)
        let usage = pool.usage
        guard usage.idle + usage.inUse + usage.connecting + usage.waiting == 0 else {
            return "left: \(usage)"
        }
        return settled == calls.count ? nil : "\(calls.count) calls, \(settled) settled"
    }

    // MARK: Steps

    /// Performs a step; returns the position of the next one.
    private func perform(_ step: UInt8, _ number: UInt8, from start: Int) -> Int {
        if let next = performStep(step, number, from: start) { return next }
        let stream = [0, 0, 0, number & 0x7F]
        switch step {
        case UInt8(ascii: "o"): send(frame(4, 0, [0, 0, 0, 0], []))
        // A complete response, the head of one.
        case UInt8(ascii: "h"): send(frame(1, 5, stream, [0x88]))
        case UInt8(ascii: "H"): send(frame(1, 4, stream, [0x88]))
        // The acknowledgement of a PING.
        case UInt8(ascii: "P"): send(frame(6, 1, [0, 0, 0, 0], [UInt8](repeating: 0, count: 8)))
        case UInt8(ascii: "q"): call(number)
        case UInt8(ascii: "x"):
            loop.timer(after: .zero) { [weak self] in self?.calls.last?.cancel() }
        case UInt8(ascii: "R"): act { ($0.stream as? SimStream)?.reset() }
        default: break
        }
        return start
    }

    /// GET or POST, complete or streamed.
    private func call(_ number: UInt8) {
        loop.timer(after: .zero) { [weak self] in
            guard let self, let target = Target("/") else { return }
            let request = ClientRequest(
                method: number & 1 == 0 ? .get : .post, target: target, host: "a",
                body: .bytes(Bytes(number & 1 == 0 ? "" : "body")), responseBytesMax: 10_000)
            let response =
                number & 2 == 0
                ? pool.send(request, within: TimeLimit(.seconds(2), error: PromiseError.abandoned))
                : pool.sendStreaming(request, PlainStreamedCall())
            calls.append(response)
            response.whenSettled { [weak self] result in
                self?.settled += 1
                if case .success(let response) = result, let source = response.body.source {
                    self?.sources.append(source)
                }
            }
        }
    }
}

/// A call that adds no field, and drops interim responses.
private final class PlainStreamedCall: StreamedCall {
    var expectsContinue: Bool { false }
    var acceptsTrailers: Bool { false }
    var upgrade: FieldValue? { nil }

    func receiveInterim(_ head: ResponseHead) {}
}
