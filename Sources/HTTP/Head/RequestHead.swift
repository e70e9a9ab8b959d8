/// The supported versions of HTTP.
package enum HTTPVersion: UInt8, Sendable, Comparable, CaseIterable {
    case http10, http11, http2

    /// As in the attribute `network.protocol.version` of traces.
    package var text: StaticString {
        switch self {
        case .http10: "1.0"
        case .http11: "1.1"
        case .http2: "2"
        }
    }

    package static func < (left: HTTPVersion, right: HTTPVersion) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// How the end of a body is found (RFC 9112 6.3).
package enum BodyFraming: Sendable, Equatable {
    /// There is no body.
    case none
    /// It has this many bytes; in HTTP/2 also none, where the head does not end the stream.
    case length(Int)
    /// Its length is not stated. Chunks; the last one marks the end. In HTTP/2 the end of the stream
    /// does.
    case chunked
    /// The end of the connection; responses only.
    case untilClose
}

/// A request without its body.
///
/// A class, so that everything that works on a request shares its head by one reference.
package final class RequestHead: Sendable {
    package let method: Method
    package let target: Target
    package let version: HTTPVersion
    package let fields: Fields

    /// Whether the connection may serve another request after this one.
    package let keepsAlive: Bool

    /// How its body is framed.
    package let framing: BodyFraming

    /// Whether the client waits for `100 Continue` before it sends the body.
    package let expectsContinue: Bool

    /// Whether it has an expectation that this server does not know: 417 (RFC 9110 10.1.1).
    package let hasUnknownExpectation: Bool

    /// Whether it has a `Via`: a proxy has passed it on (RFC 9110 7.6.3).
    package let hasVia: Bool

    /// Whether it opens a WebSocket on its HTTP/2 stream: an extended CONNECT (RFC 8441). `method` is
    /// GET, the method of the same handshake in HTTP/1.1 (RFC 6455 4.1), so that one route, its rules and its
    /// records serve both.
    package let opensWebSocket: Bool

    /// Whether it is a HEAD request.
    package var isHead: Bool { method.isHead }

    /// A request of this program; the writer adds the fields of the connection.
    package convenience init(method: Method, target: Target, fields: Fields = Fields()) {
        self.init(
            method: method, target: target, version: .http11, fields: fields, keepsAlive: true,
            framing: .none, expectsContinue: false)
    }

    /// A request that was read from a connection.
    package init(
        method: Method, target: Target, version: HTTPVersion, fields: Fields, keepsAlive: Bool,
        framing: BodyFraming, expectsContinue: Bool, hasUnknownExpectation: Bool = false,
        hasVia: Bool? = nil, opensWebSocket: Bool = false
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.keepsAlive = keepsAlive
        self.framing = framing
        self.expectsContinue = expectsContinue
        self.hasUnknownExpectation = hasUnknownExpectation
        self.hasVia = hasVia ?? fields.contains(.via)
        self.opensWebSocket = opensWebSocket
    }
}
