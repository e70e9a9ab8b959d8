package import Basics
import COpenSSL
package import Promises
package import Reactor

/// The server side of TLS, for the scripted backends of tests. The gateway's server does not use
/// TLS.
package final class TLSServerContext: Sendable {
    private let context: TLSContext

    /// - Parameter clients: the certificates that must have signed the clients'; nil requests none
    package init(_ identity: TLSIdentity, clients: Bytes? = nil) throws(TLSSettingsError) {
        context = try TLSContext(TLS_server_method())
        try context.use(identity)
        if let clients { try context.trust(clients) }
    }

    /// The engine of a new connection.
    package func engine(unixTime: Int) throws(IOFailure) -> TLSEngine {
        try TLSEngine(server: context, unixTime: unixTime)
    }

    /// Performs the handshake and promises the TLS stream of a client.
    package func accept(_ stream: any ByteStream, on loop: any Loop) -> LocalPromise<any ByteStream>
    {
        do {
            let engine = try engine(unixTime: Int(loop.unixTime / 1_000_000_000))
            return TLSStream.open(over: stream, engine, on: loop)
        } catch {
            stream.close()
            return loop.local.error(error)
        }
    }
}
