import Basics
import Promises
import Reactor
import Rehearsal
import SimReactor

/// A client that sends one request after the other with one key to one worker.
final class StoreRunClient {
    private let address: SocketAddress
    private let worker: Int
    private let replica: Int
    private let key: Int
    private let loop: SimLoop
    /// On average, in milliseconds.
    private let pause: Int
    private let random: RandomSource
    private let onResponse: (StoreRunRecord.Request) -> Void
    private var origin = Instant(nanoseconds: 0)
    private var peer: ScriptedPeer?
    private var sent: Instant?
    private var isStopped = false

    init(
        to address: SocketAddress, worker: Int, replica: Int, key: Int, on loop: SimLoop,
        pause: Int, _ random: RandomSource,
        onResponse: @escaping (StoreRunRecord.Request) -> Void
    ) {
        self.address = address
        self.worker = worker
        self.replica = replica
        self.key = key
        self.loop = loop
        self.pause = pause
        self.random = random
        self.onResponse = onResponse
    }

    /// Whether a request has no response.
    var isWaiting: Bool { sent != nil }

    func start(at origin: Instant) {
        self.origin = origin
        loop.timer(after: .milliseconds(random.number(5...400))) { [self] in
            loop.connect(to: address).whenSettled { [self] result in
                guard case .success(let stream) = result else { return }
                let peer = ScriptedPeer(stream)
                self.peer = peer
                peer.onReceived = { [unowned self] in receive($0) }
                send()
            }
        }
    }

    func stop() { isStopped = true }

    func close() {
        peer?.stream.close()
        peer = nil
    }

    private func send() {
        guard !isStopped, let peer else { return }
        sent = loop.now
        peer.send("GET /x HTTP/1.1\r\nHost: a\r\nX-Key: \(key)\r\n\r\n")
    }

    private func receive(_ peer: ScriptedPeer) {
        guard case .message(let message) = PeerMessage.read(peer.received), let began = sent.take()
        else { return }
        peer.clearReceived()
        onResponse(
            StoreRunRecord.Request(
                worker: worker, replica: replica, key: key,
                began: (began - origin).inMilliseconds,
                ended: (loop.now - origin).inMilliseconds, status: message.status))
        let delay = pause / 2 + random.number(0...max(1, pause))
        loop.timer(after: .milliseconds(delay)) { [unowned self] in send() }
    }
}
