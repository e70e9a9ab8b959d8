package import HTTP

/// The limits of one side of an HTTP/2 connection: they bound everything that a peer sends and can
/// make this side store.
package struct H2Limits: Sendable {
    /// Of heads: bytes, with 32 added for each field as RFC 9113 6.5.2 counts them, and fields.
    package var heads = Limits()

    /// How much larger a head may be, in bytes: it is decoded so that it can be answered 431. The
    /// connection ends beyond.
    ///
    /// 256 KiB: more than the frames of a block can have without references to the table, which
    /// make a small block large ("HPACK bomb").
    package var excessHeadBytes = 256 * 1024

    /// Streams of the peer at once. `REFUSED_STREAM` beyond.
    package var streams = 100

    /// Whether a server accepts extended CONNECT, and announces it (RFC 8441 3). Others are malformed.
    package var acceptsExtendedConnect = false

    /// CONTINUATION frames of one header block. The connection ends beyond.
    ///
    /// 8: with the first frame 144 KiB, more than any head that is accepted (CVE-2024-27316).
    package var continuations = 8

    /// Acknowledgements that wait to be sent. The connection ends beyond.
    ///
    /// 100: a client that sends so many without reading never reads.
    package var acknowledgements = 100

    /// What the peer may send on a stream before this side has consumed anything, in bytes.
    ///
    /// 64 KiB: a small body needs no round trip.
    package var streamWindow = 64 * 1024

    /// The same on all streams together.
    ///
    /// 1 MiB: several uploads at full speed, and a bound for the memory of a connection.
    package var connectionWindow = 1024 * 1024

    /// The header block of a head that this side sends, in bytes. The stream ends beyond.
    ///
    /// 256 KiB: above every response head that the gateway accepts from a backend.
    package var sentHeadBytes = 256 * 1024

    package init() {}
}
