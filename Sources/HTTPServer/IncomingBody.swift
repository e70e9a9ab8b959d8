import Basics
import HTTP
import Promises

/// The body of the request that runs, while it arrives: nobody wants it yet, or somebody waits for
/// all of it.
struct IncomingBody: ~Copyable {
    private let framing: BodyFraming
    private let holder: Exchange?
    private var buffer: BodyBuffer?
    private var resolver: LocalResolver<Bytes>?
    /// Bytes that came and that nobody wanted.
    private(set) var discarded = 0

    init(_ framing: BodyFraming, for holder: Exchange?) {
        self.framing = framing
        self.holder = holder
    }

    /// None, and nobody's.
    static var none: IncomingBody { IncomingBody(.none, for: nil) }

    /// Whether the last piece was refused because too much is held in memory.
    var lacksRoom: Bool { buffer?.lacksRoom ?? false }

    /// The promise of all of it. Asked for once; a second reader gets nothing.
    mutating func collect(upTo limit: Int, on core: Core) -> Local<Bytes> {
        guard buffer == nil else { return core.error(AlreadyAsked()) }
        let buffer = BodyBuffer(framing, limit: limit, for: holder)
        self.buffer = buffer
        guard !buffer.isTooLargeFromTheStart else { return core.error(BodyTooLarge(limit: limit)) }
        let resolver = LocalResolver<Bytes>(on: core)
        let promise = resolver.promise
        self.resolver = consume resolver
        return promise
    }

    /// Whether its bytes are waited for.
    var isWanted: Bool { resolver != nil }

    /// Keeps some more of it; false if that is more than its reader wants, who is told so.
    mutating func append(_ piece: Span<UInt8>) -> Bool {
        guard isWanted else {
            discarded += piece.count
            return true
        }
        if buffer?.append(piece) == true { return true }
        if lacksRoom { return false }
        resolver.take()?.reject(BodyTooLarge(limit: buffer?.limit ?? 0))
        return false
    }

    /// The rest of it cannot be read: its reader gets the reason.
    mutating func fail(_ error: WireError) {
        resolver.take()?.reject(error)
    }

    /// It is complete.
    mutating func end() {
        guard let bytes = buffer?.take() else { return }
        resolver.take()?.fulfill(bytes)
    }

    /// A body was asked for twice: a mistake of the service.
    struct AlreadyAsked: Error {}
}
