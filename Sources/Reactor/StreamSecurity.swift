package import Basics
package import Promises

/// What makes a connection secure: a stream over a stream. Only its maker knows how (see `TLS`);
/// whoever connects asks for nothing but this.
package struct StreamSecurity: Sendable, CustomReflectable, CustomStringConvertible {
    /// Agrees with the other side, which is to be `host` (a name, or an address in text form), and
    /// promises the stream on which the two then speak in private. Takes the stream over: it is closed
    /// when that fails, and when the promise is cancelled.
    ///
    /// Rejects with `IOFailure`: `certificateRefused` if the other side cannot prove who it is.
    package let secure:
        @Sendable (_ stream: any ByteStream, _ host: String, any Loop) -> LocalPromise<
            any ByteStream
        >

    /// What was asked for. Two with equal terms do the same.
    package let terms: [Bytes]

    /// Whether the other side has to prove its name, and which name that is, if it is not the host's:
    /// what a simulation needs to know in order to do without cryptography.
    package let verifies: Bool
    package let serverName: String?

    package init(
        terms: [Bytes], verifies: Bool = true, serverName: String? = nil,
        secure:
            @escaping @Sendable (any ByteStream, String, any Loop) -> LocalPromise<any ByteStream>
    ) {
        self.terms = terms
        self.verifies = verifies
        self.serverName = serverName
        self.secure = secure
    }

    /// The terms may hold a key, which no log line and no dump is to show.
    package var description: String { "secure" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension StreamSecurity: Equatable {
    package static func == (left: StreamSecurity, right: StreamSecurity) -> Bool {
        left.terms == right.terms
    }
}
