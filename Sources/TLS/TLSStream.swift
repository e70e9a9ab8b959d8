import Basics
import Promises
import Reactor

/// A TLS stream over another stream; see `ByteStream` for the contract.
///
/// It only holds the channel that does the work. There are two objects, because the inner stream
/// holds the channel as its delegate, and a stream closes when its last reference is released.
final class TLSStream: ByteStream {
    let channel: TLSChannel

    fileprivate init(_ channel: TLSChannel) {
        self.channel = channel
    }

    deinit { channel.close() }

    /// Takes ownership of `stream`, performs the handshake of a client over it, and promises the TLS
    /// stream. Rejects with `IOFailure`; cancelling closes the stream.
    static func open(
        over stream: any ByteStream, _ engine: TLSEngine, on loop: any Loop
    ) -> LocalPromise<any ByteStream> {
        let channel = TLSChannel(over: stream, engine, on: loop)
        let resolver = LocalResolver<any ByteStream>(on: loop.local)
        let promise = resolver.promise
        resolver.onCancel { _ in channel.close() }
        channel.startHandshake(.client(resolver))
        return promise
    }

    /// The same for the handshake of a server.
    ///
    /// - Parameter received: bytes that a former delegate has read from the stream; nil if nothing has
    ///   begun to read it
    static func accept(
        over stream: any ByteStream, after received: Bytes?, _ engine: TLSEngine,
        _ progress: HandshakeProgress, on loop: any Loop
    ) -> LocalPromise<AcceptedStream> {
        let channel = TLSChannel(over: stream, engine, on: loop, progress)
        let resolver = LocalResolver<AcceptedStream>(on: loop.local)
        let promise = resolver.promise
        resolver.onCancel { _ in channel.close() }
        channel.startHandshake(.server(resolver), after: received)
        return promise
    }

    func startReading(for delegate: any ByteStreamDelegate) { channel.startReading(for: delegate) }

    func replaceDelegate(with delegate: any ByteStreamDelegate) {
        channel.replaceDelegate(with: delegate)
    }

    func write(_ head: Span<UInt8>, _ body: Span<UInt8>) { channel.write(head, body) }

    func flushSoon() { channel.flushSoon() }

    var unsentBytes: Int { channel.unsentBytes }
    var unacknowledgedBytes: Int { channel.unacknowledgedBytes }

    var heldBytes: Int { channel.heldBytes }

    var hasOfferedAll: Bool { channel.hasOfferedAll }

    func discardBuffered() { channel.discardBuffered() }

    func pauseReading() { channel.pauseReading() }

    func watchForEnd() { channel.inner.watchForEnd() }

    func resumeReading() { channel.resumeReading() }

    func finishWriting() { channel.finishWriting() }

    func close() { channel.close() }

    func reset() { channel.reset() }

    var peer: SocketAddress? { channel.inner.peer }

    var applicationProtocol: String? { channel.applicationProtocol }
}

/// The resolver that waits for the end of the handshake.
enum TLSHandshake: ~Copyable {
    case client(LocalResolver<any ByteStream>)
    case server(LocalResolver<AcceptedStream>)

    consuming func succeed(_ channel: TLSChannel) {
        switch consume self {
        case .client(let resolver): resolver.fulfill(TLSStream(channel))
        case .server(let resolver):
            resolver.fulfill(.secure(TLSStream(channel), channel.session))
        }
    }

    /// The client of a server sends HTTP without TLS.
    consuming func receivePlainText(_ stream: any ByteStream, mayBeHead: Bool) {
        switch consume self {
        case .client(let resolver): resolver.reject(IOFailure.tlsFailed("no TLS"))
        case .server(let resolver): resolver.fulfill(.plainText(stream, mayBeHead: mayBeHead))
        }
    }

    consuming func fail(_ failure: IOFailure) {
        switch consume self {
        case .client(let resolver): resolver.reject(failure)
        case .server(let resolver): resolver.reject(failure)
        }
    }
}
