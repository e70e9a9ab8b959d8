/// The limits of the wire protocol: they bound everything that a peer sends and the time to wait
/// for it.
package struct Limits: Sendable, Equatable {
    /// Upper bound of a field name, a field value and a target that is sent, each in bytes, whatever
    /// the other limits are. 431 and 414 beyond.
    ///
    /// 64 KiB: common decoders of HTTP/2 refuse a longer one, and an error of the decoder ends the
    /// connection with all of its requests (RFC 9113 4.3).
    package static let fieldBytesMax = 64 * 1024

    /// The lines of a head after its first, with their line ends, in bytes. 431 beyond.
    ///
    /// 32 KiB: above what browsers send with many cookies, and little memory per connection.
    package var headerBytes = 32 * 1024

    /// How many fields a head may have. 431 beyond.
    ///
    /// 100: what servers commonly allow; look-ups walk the list.
    package var headerCount = 100

    /// The target of a request in bytes. 414 beyond.
    ///
    /// 8 KiB: RFC 9112 3 requires 8000 at least.
    package var uriBytes = 8 * 1024

    /// A method in bytes. 501 beyond.
    ///
    /// 32: the longest registered one has 17.
    package var methodBytes = 32

    /// Version, status and reason of a response in bytes.
    ///
    /// 1 KiB: a reason phrase is a few words.
    package var statusLineBytes = 1024

    /// Empty lines that are ignored before a request line (RFC 9112 2.2).
    ///
    /// 8: old clients send one after a body.
    package var leadingEmptyLines = 8

    /// One chunk-size line with its extensions, in bytes. 400 beyond.
    ///
    /// 256: extensions are unused in practice, and a size has at most 16 digits.
    package var chunkLineBytes = 256

    /// The overhead of chunks beyond sixteen bytes each, summed over a body. 400 beyond.
    ///
    /// 16 KiB: extensions that outweigh the data are an attack (CVE-2023-39326).
    package var chunkOverheadBytes = 16 * 1024

    /// The trailer section in bytes. 431 beyond.
    ///
    /// 8 KiB: more than usual trailers, which are few.
    package var trailerBytes = 8 * 1024

    /// Responses with a status below 200 before the final one.
    ///
    /// 16: more than one is rare, and an endless sequence would keep a request open.
    package var interimResponses = 16

    /// A body in bytes, without another limit. 413 beyond.
    ///
    /// 1 MiB: the gateway's default `max_body`.
    package var bodyBytes = 1024 * 1024

    /// From the first byte of a head to its last. 408 beyond.
    ///
    /// 10 s in all, however slowly the bytes arrive.
    package var headerTimeout = Duration.seconds(10)

    /// From the end of a head to the end of its body. 408 beyond.
    ///
    /// 30 s in all.
    package var bodyTimeout = Duration.seconds(30)

    /// The minimum rate of a body, on average over each `bodyGrace`, in bytes per second. 408 below.
    ///
    /// 1 KiB: slower than a modem; a client that sends single bytes is stopped after the grace.
    package var bodyBytesPerSecond = 1024

    /// How long a body may take before its rate counts.
    ///
    /// 5 s: a mobile client that loses its network for a moment is not too slow.
    package var bodyGrace = Duration.seconds(5)

    /// How long a connection may be idle between two requests. The first request must begin within
    /// `headerTimeout`.
    package var idleTimeout = Duration.seconds(75)

    /// How long the peer may take to accept unsent bytes: in each such period it must take
    /// `outputBytesPerSecond` on average.
    package var writeTimeout = Duration.seconds(30)

    /// The minimum rate at which a client takes unsent bytes, on average, in bytes per second.
    ///
    /// 1 KiB: a client that reads single bytes would keep its response open for ever.
    package var outputBytesPerSecond = 1024

    package init() {}
}
