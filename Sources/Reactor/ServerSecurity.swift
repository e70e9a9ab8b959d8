package import Basics
package import Promises

/// Turns the connections of clients into encrypted ones. The server uses it without knowing the
/// protocol; see `TLS`.
package struct ServerSecurity: Sendable {
    /// Performs the handshake with a client and promises the encrypted stream. Takes ownership of the
    /// stream: closes it if the handshake fails or the promise is cancelled.
    ///
    /// - Parameter received: bytes that a former delegate has read from the stream; nil if nothing has
    ///   begun to read it
    ///
    /// Rejects with `IOFailure`.
    package typealias Accept =
        @Sendable (
            _ stream: any ByteStream, _ received: Bytes?, HandshakeProgress, any Loop
        ) -> LocalPromise<AcceptedStream>

    package let accept: Accept

    package init(accept: @escaping Accept) {
        self.accept = accept
    }
}

/// A client's connection after its handshake.
package enum AcceptedStream {
    case secure(any ByteStream, SecureSession)
    /// The client sent HTTP without encryption. Reading of the stream is paused; its next delegate
    /// gets no byte that was read before.
    ///
    /// - `mayBeHead`: whether the bytes may begin a HEAD request, whose response has no body
    case plainText(any ByteStream, mayBeHead: Bool)
}

/// What a client and a listener agreed on in a handshake.
package struct SecureSession: Sendable, Equatable {
    package enum Version: Int, Sendable, CaseIterable {
        case tls12, tls13

        /// As in the attribute `tls.protocol.version` of traces.
        package var text: StaticString {
            switch self {
            case .tls12: "1.2"
            case .tls13: "1.3"
            }
        }
    }

    package let version: Version
    /// Whether it continues an earlier session.
    package let isResumed: Bool
    /// The host that the client named (SNI).
    package let serverName: String?
    /// ALPN; nil if the client offered none.
    package let applicationProtocol: String?
    /// Nil without a client certificate.
    package let identity: PeerIdentity?

    package init(
        version: Version, isResumed: Bool, serverName: String?, applicationProtocol: String?,
        identity: PeerIdentity?
    ) {
        self.version = version
        self.isResumed = isResumed
        self.serverName = serverName
        self.applicationProtocol = applicationProtocol
        self.identity = identity
    }
}

extension AcceptedStream {
    /// Whether the first bytes of a client begin a HEAD request, or may become them.
    package static func mayBeHead(_ bytes: Span<UInt8>) -> Bool {
        let method = Array("HEAD ".utf8)
        return (0..<min(bytes.count, method.count)).allSatisfy { bytes[$0] == method[$0] }
    }
}
