import Basics
import HTTP
import Reactor

/// The sending side of a connection of HTTP/1.1, for the body of a request.
final class RequestBodyTarget: BodyTarget {
    /// How the connection shows where the bytes end.
    enum Framing: Equatable {
        case body(RequestFraming)
        /// By the end of the connection's sending side.
        case tunnel

        var body: BodyFraming {
            switch self {
            case .body(let framing): framing.body
            case .tunnel: .untilClose
            }
        }
    }

    private let stream: any ByteStream
    private let framing: Framing
    private let fail: (any Error) -> Void
    /// Empty between writes.
    private var chunk = TextBuffer()

    /// Whether the head was offered to the network before the last write, so that the backend may
    /// have received it.
    private(set) var hasStartedSending = false

    var pendingBytes: Int { stream.pendingBytes }

    /// - Parameter fail: called at most once, when the request cannot be completed
    init(_ stream: any ByteStream, _ framing: Framing, fail: @escaping (any Error) -> Void) {
        self.stream = stream
        self.framing = framing
        self.fail = fail
    }

    func writeBody(_ piece: Span<UInt8>) -> Int {
        if framing == .body(.chunked) {
            chunk.append(chunk: piece)
            writeChunk()
        } else {
            write(piece)
        }
        return stream.unsentBytes
    }

    func endBody(trailers: Fields) {
        if framing == .body(.chunked) {
            chunk.appendLastChunk()
            writeChunk()
        } else if framing == .tunnel {
            stream.finishWriting()
        }
    }

    func breakBody(_ error: any Error) { fail(ClientFailure.ofBody(error)) }

    private func writeChunk() {
        write(chunk.span)
        chunk.removeAll()
    }

    private func write(_ bytes: Span<UInt8>) {
        if stream.hasOfferedAll { hasStartedSending = true }
        stream.write(bytes)
    }
}

extension ClientFailure {
    /// Why a request fails whose body cannot be sent.
    static func ofBody(_ error: any Error) -> any Error {
        error is UnsentBytesExceeded ? ClientFailure(.memoryLimit, .memory, wasSent: true) : error
    }
}
