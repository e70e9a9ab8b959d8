package import HTTP

/// A request as values: each type of connection writes it in its own wire format.
///
/// No part of it can split a head, because the types of all parts are checked.
package struct ClientRequest {
    /// Decides how the response is framed and whether the request may be sent twice.
    package let method: Method

    /// Path and query, unchanged; the authority of an absolute form is not sent.
    package let target: Target

    /// Host and port of the backend (RFC 9110 7.2).
    package let host: FieldValue

    /// The fields that many requests share, such as those of the backend's configuration. Kept apart
    /// from `fields`, so that they are neither copied nor built for each call.
    package let constantFields: Fields

    /// The fields of this request only.
    package let fields: Fields

    /// What the backend learns about the client's request; nil for a request that serves no client,
    /// such as a health check.
    package let exchange: ExchangeFields?

    /// The source of a stream is started when the request is written, and cancelled when the call
    /// ends before it. It is not touched if the request is never written.
    package let body: Body

    /// The longest body that a complete response may have, in bytes. A streamed one has no limit.
    package let responseBytesMax: Int

    package init(
        method: Method, target: Target, host: FieldValue, constantFields: Fields = Fields(),
        fields: Fields = Fields(), exchange: ExchangeFields? = nil,
        body: Body = .described(length: nil), responseBytesMax: Int
    ) {
        self.method = method
        self.target = target
        self.host = host
        self.constantFields = constantFields
        self.fields = fields
        self.exchange = exchange
        self.body = body
        self.responseBytesMax = responseBytesMax
    }

    /// Whether the request can be written a second time. The source of a stream delivers once.
    var isRepeatable: Bool {
        switch body {
        case .bytes, .described: true
        case .stream, .tunnel: false
        }
    }
}
