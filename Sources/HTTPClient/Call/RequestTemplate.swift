import Basics
package import HTTP

/// What the requests of one call to one host share, with its text in HTTP/1.1: compiled once, so that
/// the head of a request is a few copies.
package final class RequestTemplate {
    /// Host and port of the backend (RFC 9110 7.2).
    package let host: FieldValue

    /// The fields that all these requests have, such as the fields of the backend's configuration.
    package let fields: Fields

    /// The longest body that a complete response may have, in bytes. A streamed one has no limit.
    package let responseBytesMax: Int

    /// The statuses for which the fields of a response are not used; nil for none.
    let statusesWithoutFields: ClosedRange<Int>?

    /// Whether a complete response has its trailers (RFC 9110 6.5), up to `Limits.trailerBytes`.
    package let keepsTrailers: Bool

    /// The end of the request line and the lines of `host` and `fields`.
    let lines: Bytes

    package init(
        host: FieldValue, fields: Fields = Fields(), responseBytesMax: Int,
        statusesWithoutFields: ClosedRange<Int>? = nil, keepsTrailers: Bool = false
    ) {
        self.host = host
        self.keepsTrailers = keepsTrailers
        self.statusesWithoutFields = statusesWithoutFields
        self.fields = fields
        self.responseBytesMax = responseBytesMax
        var text = TextBuffer()
        text.append(endOfRequestLine: host)
        text.append(fields)
        lines = Bytes(copying: text.span)
    }

    /// The same with another `Host`.
    package func replacingHost(_ host: FieldValue) -> RequestTemplate {
        RequestTemplate(
            host: host, fields: fields, responseBytesMax: responseBytesMax,
            statusesWithoutFields: statusesWithoutFields, keepsTrailers: keepsTrailers)
    }
}
