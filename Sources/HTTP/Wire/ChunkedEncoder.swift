package import Basics

/// Writes a body of unknown length (RFC 9112 7.1).
extension TextBuffer {
    /// Appends one chunk. Nothing for no bytes, since an empty chunk would end the body.
    package mutating func append(chunk data: Span<UInt8>) {
        guard !data.isEmpty else { return }
        append(chunkSize: data.count)
        append(copying: data)
        append(literal: "\r\n")
    }

    /// Appends the line before the data of a chunk, which is at least one byte long; CRLF
    /// follows the data.
    package mutating func append(chunkSize: Int) {
        append(copying: Bytes(String(chunkSize, radix: 16)).span)
        append(literal: "\r\n")
    }

    /// Appends the end of a chunked body, with its trailers.
    package mutating func appendLastChunk(_ trailers: Fields = Fields()) {
        append(literal: "0\r\n")
        append(trailers)
        append(literal: "\r\n")
    }
}
