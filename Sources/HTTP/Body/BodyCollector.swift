import Basics
import Promises

/// Collects a body, up to a limit, for a reader that needs all of it. Its source owns it while the
/// body arrives.
final class BodyCollector: BodySink {
    private let source: any BodySource
    private var buffer: BodyBuffer
    private var resolver: LocalResolver<Bytes>?

    private init(
        _ source: any BodySource, _ buffer: BodyBuffer, _ resolver: consuming LocalResolver<Bytes>
    ) {
        self.source = source
        self.buffer = buffer
        self.resolver = consume resolver
    }

    /// Starts to read a body; returns the promise of the complete one.
    static func collect(
        _ source: any BodySource, upTo limit: Int, on local: LocalContext
    ) -> LocalPromise<Bytes> {
        let buffer = BodyBuffer(source.framing, limit: limit, for: source.memoryOwner)
        guard !buffer.isTooLargeFromTheStart else {
            source.cancel()
            return local.error(BodyTooLarge(limit: limit))
        }
        let resolver = LocalResolver<Bytes>(on: local)
        let promise = resolver.promise
        source.startDelivery(to: BodyCollector(source, buffer, consume resolver))
        return promise
    }

    func bodyReceived(_ piece: Span<UInt8>) {
        guard !buffer.append(piece) else { return }
        source.cancel()
        if buffer.lacksRoom {
            resolver.take()?.reject(BufferedBytesExceeded())
        } else {
            resolver.take()?.reject(BodyTooLarge(limit: buffer.limit))
        }
    }

    func bodyEnded(trailers: Fields) {
        resolver.take()?.fulfill(buffer.take())
    }

    func bodyFailed(_ error: any Error) {
        resolver.take()?.reject(error)
    }
}
