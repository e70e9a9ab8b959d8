import Basics
import Reactor
import TLS
import TestCertificates

/// Two engines; the test transfers the bytes between them.
final class EnginePair {
    let client: TLSEngine
    let server: TLSEngine
    private(set) var clientState = TLSEngine.Handshake.needsMore
    private(set) var serverState = TLSEngine.Handshake.needsMore

    init(
        _ context: TLSClientContext? = nil, host: String = "backend.test",
        server: TLSServerContext? = nil, unixTime: Int = Certificates.now
    ) throws {
        client = try (context ?? Certificates.trusting()).engine(for: host, unixTime: unixTime)
        self.server = try (server ?? Certificates.server()).engine(unixTime: unixTime)
    }

    /// Performs the handshake as far as possible; `cut` splits the transferred bytes.
    func performHandshake(cut: (Bytes) -> [Bytes] = { [$0] }) {
        clientState = client.continueHandshake()
        for _ in 0..<10 {
            for piece in cut(client.takeOutput()) {
                server.receive(piece.span)
                if serverState == .needsMore { serverState = server.continueHandshake() }
            }
            for piece in cut(server.takeOutput()) {
                client.receive(piece.span)
                if clientState == .needsMore { clientState = client.continueHandshake() }
            }
        }
    }

    var isDone: Bool { clientState == .done && serverState == .done }
}

extension TLSEngine {
    /// Takes the bytes to send.
    func takeOutput() -> Bytes {
        var bytes: [UInt8] = []
        takeOutgoing { bytes.append(copying: $0) }
        return Bytes(bytes)
    }

    func send(_ text: String) -> Bool { send(Bytes(text)) }

    func send(_ bytes: Bytes) -> Bool { write(bytes.span) }

    /// All bytes that can be read now, and the result of the last read.
    func readAll() -> (text: [UInt8], end: Read) {
        var text: [UInt8] = []
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16 * 1024) { buffer in
            while true {
                let read = self.read(into: buffer)
                guard case .bytes(let count) = read else { return (text, read) }
                text += buffer[..<count]
            }
        }
    }
}

extension Bytes {
    var singleBytes: [Bytes] { (0..<count).map { self[$0..<($0 + 1)] } }
}
