package import Basics
package import Promises

/// Turns a plain stream into an encrypted one. The connector uses it without knowing the protocol;
/// see `TLS`.
package struct StreamSecurity: Sendable, CustomReflectable, CustomStringConvertible {
    /// Performs a handshake.
    package typealias Handshake =
        @Sendable (_ stream: any ByteStream, _ host: String, any Loop, ApplicationProtocols) ->
        LocalPromise<any ByteStream>

    private let handshake: Handshake

    /// The settings in comparable form. Two values with equal configurations behave equally.
    package let configuration: [Bytes]

    /// Whether the name of the peer is verified, and the name if it is not the host: the simulated
    /// handshake needs both, since it uses no cryptography.
    package let verifies: Bool
    package let serverName: String?

    package init(
        configuration: [Bytes], verifies: Bool = true, serverName: String? = nil,
        handshake: @escaping Handshake
    ) {
        self.configuration = configuration
        self.verifies = verifies
        self.serverName = serverName
        self.handshake = handshake
    }

    /// Performs the handshake with the peer, which must be `host` (a name, or an address in text
    /// form), and promises the encrypted stream. Takes ownership of the stream: closes it if the
    /// handshake fails or the promise is cancelled.
    ///
    /// Rejects with `IOFailure`: `certificateRefused` if the certificate of the peer is not
    /// accepted.
    package func secure(
        _ stream: any ByteStream, _ host: String, _ loop: any Loop,
        offering protocols: ApplicationProtocols = .http1
    ) -> LocalPromise<any ByteStream> {
        handshake(stream, host, loop, protocols)
    }

    /// The configuration may contain a key, which must not appear in logs and dumps.
    package var description: String { "secure" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension StreamSecurity: Equatable {
    package static func == (left: StreamSecurity, right: StreamSecurity) -> Bool {
        left.configuration == right.configuration
    }
}
