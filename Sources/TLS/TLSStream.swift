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

    /// Takes ownership of `stream`, performs the handshake over it, and promises the TLS stream.
    /// Rejects with `IOFailure`; cancelling closes the stream.
    static func open(
        over stream: any ByteStream, _ engine: TLSEngine, on loop: any Loop
    ) -> LocalPromise<any ByteStream> {
        let channel = TLSChannel(over: stream, engine, on: loop)
        let resolver = LocalResolver<any ByteStream>(on: loop.local)
        let promise = resolver.promise
        resolver.onCancel { _ in channel.close() }
        channel.startHandshake(TLSHandshake(resolver))
        return promise
    }

    func startReading(for delegate: any ByteStreamDelegate) { channel.startReading(for: delegate) }

    func write(_ head: Span<UInt8>, _ body: Span<UInt8>) { channel.write(head, body) }

    var unsentBytes: Int { channel.inner.unsentBytes }

    var hasOfferedAll: Bool { channel.hasOfferedAll }

    func discardBuffered() { channel.discardBuffered() }

    func pauseReading() { channel.pauseReading() }

    func resumeReading() { channel.resumeReading() }

    func finishWriting() { channel.finishWriting() }

    func close() { channel.close() }

    var peer: SocketAddress? { channel.inner.peer }
}

/// The resolver that waits for the end of the handshake.
struct TLSHandshake: ~Copyable {
    private let resolver: LocalResolver<any ByteStream>

    init(_ resolver: consuming LocalResolver<any ByteStream>) {
        self.resolver = resolver
    }

    consuming func succeed(_ channel: TLSChannel) { resolver.fulfill(TLSStream(channel)) }

    consuming func fail(_ failure: IOFailure) { resolver.reject(failure) }
}
