package import Basics
import COpenSSL
package import Promises
package import Reactor

/// The other side of a secure connection: for the scripted backends of tests. The server itself speaks
/// plainly.
package final class TLSServerContext: Sendable {
    private let context: TLSContext

    /// - Parameter clients: the certificates that clients' must be signed by; nil asks for none
    package init(_ identity: TLSIdentity, clients: Bytes? = nil) throws(TLSSettingsError) {
        context = try TLSContext(TLS_server_method())
        try context.show(identity)
        if let clients { try context.trust(clients) }
    }

    /// A new connection's side.
    package func engine(unixTime: Int) throws(IOFailure) -> TLSEngine {
        try TLSEngine(server: context, unixTime: unixTime)
    }

    /// The stream on which a client speaks in private, once both agree.
    package func accept(_ stream: any ByteStream, on loop: any Loop) -> Local<any ByteStream> {
        do {
            let engine = try engine(unixTime: Int(loop.unixTime / 1_000_000_000))
            return TLSStream.opening(over: stream, engine, on: loop)
        } catch {
            stream.close()
            return loop.core.error(error)
        }
    }
}
