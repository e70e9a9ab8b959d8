import Reactor
import SimReactor

/// A connection of a simulated peer, with the number of bytes that the peer has written: the journal
/// counts them later, when the network gets them.
final class CountedStream {
    let stream: SimStream
    private(set) var written = 0

    init(_ stream: SimStream) { self.stream = stream }

    func write(_ bytes: [UInt8]) {
        written += bytes.count
        stream.write(bytes.span)
    }
}
