import Basics
import HTTP
import Reactor

/// Writes the body of a request to a connection of HTTP/1.1.
final class RequestBodyWriter: RequestBodyTarget {
    /// How the connection shows where the bytes end.
    enum Framing: Equatable {
        case body(RequestFraming)
        /// By the end of the connection's sending side.
        case tunnel

        /// In bytes; nil if it is not known before they are sent.
        var length: Int? {
            switch self {
            case .body(let framing): framing.length
            case .tunnel: nil
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

    func sendPiece(_ piece: Span<UInt8>) -> Int {
        if framing == .body(.chunked) {
            chunk.append(chunk: piece)
            writeChunk()
        } else {
            write(piece)
        }
        return stream.unsentBytes
    }

    func endRequestBody(trailers: Fields) {
        if framing == .body(.chunked) {
            chunk.appendLastChunk()
            writeChunk()
        } else if framing == .tunnel {
            stream.finishWriting()
        }
    }

    func requestBodyFailed(_ error: any Error) { fail(error) }

    private func writeChunk() {
        write(chunk.span)
        chunk.removeAll()
    }

    private func write(_ bytes: Span<UInt8>) {
        if stream.hasOfferedAll { hasStartedSending = true }
        stream.write(bytes)
    }
}
