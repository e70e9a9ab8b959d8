import Basics
import HTTP
import HTTPServer
import Promises
import Reactor
import SimReactor

extension FuzzTarget {
    /// A whole HTTP/2 connection of the server, with the bytes and the actions of its client from the
    /// input, in virtual time. See `HTTP2Run` for the steps.
    static let http2 = FuzzTarget(
        name: "http2",
        tokens: [
            "o\u{0}", "g\u{1}", "g\u{3}", "d\u{1}", "d\u{3}", "e\u{1}", "e\u{3}", "u\u{1}",
            "u\u{3}", "b\u{1}", "B\u{41}", "B\u{7f}", "p\u{0}", "r\u{0}", "t\u{40}", "T\u{7f}",
            "k\u{0}", "a\u{0}", "D\u{0}", "w\u{1}", "w\u{3}",
            "f\u{0}\u{0}\u{1}\u{1}", "f\u{0}\u{4}\u{0}\u{0}", "f\u{0}\u{4}\u{1}\u{0}",
            "f\u{8}\u{6}\u{0}\u{0}12345678", "f\u{8}\u{6}\u{1}\u{0}12345678",
            "f\u{4}\u{3}\u{0}\u{1}\u{0}\u{0}\u{0}\u{8}",
            "f\u{4}\u{8}\u{0}\u{0}\u{0}\u{0}\u{10}\u{0}",
            "f\u{4}\u{8}\u{0}\u{1}\u{0}\u{0}\u{10}\u{0}",
            "f\u{8}\u{7}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
            "f\u{6}\u{4}\u{0}\u{0}\u{0}\u{4}\u{0}\u{0}\u{0}\u{0}",
            "f\u{5}\u{2}\u{0}\u{3}\u{0}\u{0}\u{0}\u{1}\u{10}",
            "\u{0}\u{7}:method\u{3}GET", "\u{0}\u{7}:method\u{4}POST", "\u{0}\u{5}:path\u{2}/s",
            "\u{0}\u{5}:path\u{2}/b", "\u{0}\u{7}:scheme\u{4}http", "\u{0}\u{a}:authority\u{1}a",
            "\u{0}\u{4}host\u{1}b", "\u{0}\u{e}content-length\u{1}5",
            "\u{0}\u{6}cookie\u{3}a=b", "\u{0}\u{2}te\u{8}trailers",
            "\u{0}\u{6}expect\u{c}100-continue", "\u{0}\u{1}x\u{3}a\r\n",
            "\u{0}\u{7}:method\u{7}CONNECT", "\u{0}\u{9}:protocol\u{9}websocket",
        ]
    ) { input in
        do {
            return try HTTP2Run(input).violation()
        } catch {
            return "no server: \(error)"
        }
    }
}

/// A server and a client that performs the steps of an input.
final class HTTP2Run: HTTP2Steps {
    let input: [UInt8]
    let network: SimNetwork
    private let loop: SimLoop
    let peers: SimLoop
    private let server: Server
    private(set) var peer: ScriptedPeer?
    private var found: String?
    private var begun = 0
    private var ended = 0

    private static let stepsMax = 64
    /// The windows of the connection and of the kernel, and what nghttp2 uses.
    private static let bytesMax = 2_500_000

    init(_ input: [UInt8]) throws {
        self.input = input
        network = SimNetwork(seed: 1)
        network.settings.windowBytes = 8 * 1024
        loop = network.makeLoop("server")
        peers = network.makeLoop("client")
        var listener = ListenerSettings()
        listener.protocols = [.http1, .http2]
        let run = Unowned()
        var settings = ServerSettings()
        // So that the steps of an input can exceed it.
        settings.streamsPerConnection = 8
        settings.acceptsWebSocket = true
        var hooks = ServerHooks()
        hooks.exchangeEnded = { _ in run.value?.ended += 1 }
        server = Server(loop: loop, settings: settings, listeners: [listener], hooks: hooks) {
            request, exchange in
            run.value?.serve(request, exchange)
                ?? exchange.local.error(PromiseError.abandoned)
        }
        run.value = self
        let address = try server.listen(on: .ip(.v4(0x7F00_0001), port: 8080))
        var stream: (any ByteStream)?
        peers.connect(to: address).whenSettled { stream = try? $0.get() }
        network.run(until: { stream != nil })
        peer = stream.map { ScriptedPeer($0) }
    }

    /// The service is created before the run is complete.
    private final class Unowned {
        weak var value: HTTP2Run?
    }

    /// What the client received, if that is HTTP/2.
    var transcript: HTTP2Transcript {
        let received = peer?.received ?? []
        // A response in HTTP/1.1 begins with a letter.
        return HTTP2Transcript(received.first == 0 ? received : [])
    }

    /// A description of what is wrong; nil if nothing is.
    func violation() -> String? {
        var position = 0
        for _ in 0..<Self.stepsMax where position + 1 < input.count {
            position = perform(input[position], input[position + 1], from: position + 2)
            pass(1)
            if server.bufferedBytes > Self.bytesMax {
                return "\(server.bufferedBytes) buffered bytes"
            }
        }
        act { $0.stream.close() }
        pass(200_000)
        if let found = found ?? transcript.violation { return found }
        guard server.connectionCount == 0, server.bufferedBytes == 0,
            server.requestsInFlight == 0, server.streams == 0
        else {
            return
                "left: \(server.connectionCount) connections, \(server.bufferedBytes) bytes,"
                + " \(server.requestsInFlight) requests, \(server.streams) streams"
        }
        return begun <= ended ? nil : "\(begun) requests began, and \(ended) ended"
    }

    // MARK: Service

    /// A WebSocket is an echo, `/s…` streams the body of the request back, others respond when they
    /// have all of it.
    private func serve(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        begun += 1
        check(request.head)
        if request.head.opensWebSocket {
            return exchange.local.value(Response(status: .ok, body: .tunnel(EchoTunnel())))
        }
        let target = request.head.target.text
        if target.count > 1, target[1] == UInt8(ascii: "s"), let source = request.body.source {
            return exchange.local.value(Response(status: .ok, body: .stream(source)))
        }
        return request.body.collect(upTo: 1000, on: exchange.local)
            .map { Response(status: .ok, body: $0) }
            .recover { _ in exchange.local.value(Response(status: .contentTooLarge)) }
    }

    /// No byte that could split a head reaches the service.
    private func check(_ head: RequestHead) {
        // RFC 9110 7.2: HTTP/1.0 has none.
        if head.version != .http10, head.fields.all(.host).count != 1 {
            found = "not exactly one Host"
        }
        for (name, value) in head.fields {
            if FieldName(name) == nil { found = "a malformed name" }
            if FieldValue(value) == nil { found = "a malformed value" }
        }
        if head.target.text.array.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            found = "a malformed target"
        }
    }

    // MARK: Steps

    /// Performs a step; returns the position of the next one.
    private func perform(_ step: UInt8, _ number: UInt8, from start: Int) -> Int {
        if let next = performStep(step, number, from: start) { return next }
        let stream = [0, 0, 0, number & 0x7F]
        switch step {
        case UInt8(ascii: "o"):
            send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, 0, [0, 0, 0, 0], []))
        // A GET, a WebSocket, the head of a POST to each service, a GET that expands.
        case UInt8(ascii: "g"): send(frame(1, 5, stream, [0x82, 0x86, 0x84, 0x41, 1, 0x61]))
        case UInt8(ascii: "w"): send(frame(1, 4, stream, Self.webSocketBlock))
        case UInt8(ascii: "u"):
            send(frame(1, 4, stream, [0x83, 0x86, 0x44, 2, 0x2F, 0x73, 0x41, 1, 0x61]))
        case UInt8(ascii: "b"): send(frame(1, 4, stream, [0x83, 0x86, 0x84, 0x41, 1, 0x61]))
        case UInt8(ascii: "B"): send(frame(1, 5, stream, expandingBlock(Int(number))))
        case UInt8(ascii: "p"): act { $0.stream.pauseReading() }
        case UInt8(ascii: "r"): act { $0.stream.resumeReading() }
        case UInt8(ascii: "D"): server.announceDrain()
        default: break
        }
        return start
    }

    /// An extended CONNECT (RFC 8441 4).
    private static let webSocketBlock: [UInt8] =
        [0x42, 7] + Array("CONNECT".utf8) + [0, 9] + Array(":protocol".utf8) + [9]
        + Array("websocket".utf8) + [0x86, 0x84, 0x41, 1, 0x61]

    /// A GET with references to a field of 4,000 bytes in the table of compression.
    private func expandingBlock(_ references: Int) -> [UInt8] {
        [0x82, 0x86, 0x84, 0x41, 1, 0x61, 0x40, 1, 0x78, 0x7F, 0xA1, 0x1E]
            + [UInt8](repeating: 0x79, count: 4000)
            + [UInt8](repeating: 0x80 | 62, count: references)
    }
}

/// A tunnel that returns what is sent to it. Its source owns it.
private final class EchoTunnel: Tunnel, BodySink {
    let framing = BodyFraming.untilClose
    let protocolName: FieldValue = "websocket"
    let limitsTime = true
    private var sink: (any BodySink)?
    private var source: (any BodySource)?

    func startDelivery(to sink: any BodySink) { self.sink = sink }

    func send(from source: any BodySource) {
        self.source = source
        source.startDelivery(to: self)
    }

    func pause() { source?.pause() }
    func resume() { source?.resume() }

    func cancel() {
        sink = nil
        let source = source
        self.source = nil
        source?.cancel()
    }

    func bodyReceived(_ piece: Span<UInt8>) { sink?.bodyReceived(piece) }

    func bodyEnded(trailers: Fields) {
        source = nil
        let sink = sink
        self.sink = nil
        sink?.bodyEnded(trailers: Fields())
    }

    func bodyFailed(_ error: any Error) {
        source = nil
        let sink = sink
        self.sink = nil
        sink?.bodyFailed(error)
    }
}
