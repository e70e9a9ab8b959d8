import Basics
package import HTTP

/// A request as values: each type of connection writes it in its own wire format.
///
/// No part of it can split a head, because the types of all parts are checked.
package struct ClientRequest {
    /// Decides how the response is framed and whether the request may be sent twice.
    package let method: Method

    /// Path and query, unchanged; the authority of an absolute form is not sent.
    package var target: Target

    /// The parts that many requests share. They are neither copied nor built for each call.
    package var template: RequestTemplate

    /// The fields of this request only.
    package let fields: Fields

    /// What the backend learns about the client's request; nil for a request that serves no client,
    /// such as a health check.
    ///
    /// Not written as `ExchangeFields?`, which would be set to nil before `init` sets it.
    package var exchange: Optional<ExchangeFields>

    /// The source of a stream is started when the request is written, and cancelled when the call
    /// ends before it. It is not touched if the request is never written.
    package let body: Body

    package init(
        method: Method, target: Target, template: RequestTemplate, fields: Fields = Fields(),
        exchange: ExchangeFields? = nil, body: Body = .described(length: nil)
    ) {
        self.method = method
        self.target = target
        self.template = template
        self.fields = fields
        self.exchange = exchange
        self.body = body
    }

    /// A request with a template of its own, for those that are rare.
    package init(
        method: Method, target: Target, host: FieldValue, constantFields: Fields = Fields(),
        fields: Fields = Fields(), exchange: ExchangeFields? = nil,
        body: Body = .described(length: nil), responseBytesMax: Int
    ) {
        self.init(
            method: method, target: target,
            template: RequestTemplate(
                host: host, fields: constantFields, responseBytesMax: responseBytesMax),
            fields: fields, exchange: exchange, body: body)
    }

    /// The length of a body that is complete; 0 for others.
    var bodyBytes: Int {
        if case .bytes(let bytes) = body { bytes.count } else { 0 }
    }

    /// Whether the request can be written a second time. The source of a stream delivers once.
    var isRepeatable: Bool {
        switch body {
        case .bytes, .described: true
        case .stream, .tunnel: false
        }
    }
}
