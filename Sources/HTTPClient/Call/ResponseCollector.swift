import Basics
import HTTP

/// Collects the head and the pieces of one response into a complete response, up to a limit. Owned by
/// its call.
struct ResponseCollector {
    private var head: ResponseHead?
    private var body = BodyBuffer(.none, limit: 0)
    /// Nil without trailers.
    private var trailers: TrailerLines?

    /// Stores the head. Throws if the stated length exceeds the limit.
    mutating func begin(_ head: ResponseHead, for request: ClientRequest) throws(ClientFailure) {
        self.head = head
        body = BodyBuffer(
            head.framing, limit: request.template.responseBytesMax, for: request.exchange?.exchange)
        if body.isTooLargeFromTheStart { throw tooLarge }
    }

    /// Stores a piece of the body. Throws if it exceeds the limit or the budget.
    mutating func append(_ piece: Span<UInt8>) throws(ClientFailure) {
        guard body.append(piece) else { throw tooLarge }
    }

    /// Stores a piece of the trailer section.
    mutating func appendTrailers(_ piece: Span<UInt8>) {
        let lines = trailers ?? TrailerLines()
        lines.append(piece)
        trailers = lines
    }

    /// Bytes of the body so far.
    @inline(__always)
    var bodyBytes: Int { body.count }

    /// The complete response; nil if there was no head. Empties the collector.
    mutating func finish(toHead: Bool, attempt: Int? = nil) -> ClientResponse? {
        guard let head = head.take() else { return nil }
        let isDescribed = toHead || head.status.code == 304
        return ClientResponse(
            status: head.status, fields: head.fields,
            body: isDescribed
                ? .described(length: Self.statedLength(head.fields)) : .bytes(body.take()),
            trailers: trailers.take(), attempt: attempt)
    }

    private var tooLarge: ClientFailure {
        body.lacksRoom
            ? ClientFailure(.memoryLimit, .memory, wasSent: true)
            : ClientFailure(.responseBodySize, .limit(body.limit), wasSent: true)
    }

    /// The length that a response without content states; nil if it states none or several.
    private static func statedLength(_ fields: Fields) -> Int? {
        let lengths = fields.all(.contentLength)
        return lengths.count == 1 ? Int(lengths[0].description) : nil
    }
}
