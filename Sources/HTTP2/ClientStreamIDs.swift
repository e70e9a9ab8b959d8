/// Which ids a client has used for its streams, so that one that it left out is not used later
/// (RFC 9113 5.1.1). Owned by the session of a server.
///
/// HEADERS on an id that was used may be the trailers of a request that this side has reset
/// meanwhile, and are no error. nghttp2 remembers no closed streams, so it cannot tell the two
/// cases apart and ignores both.
struct ClientStreamIDs {
    enum Use {
        /// Above all that were used.
        case new
        /// Was used before: the stream is open, or it was.
        case known
        /// Is below one that was used, and was not used itself: its stream counts as closed.
        case leftOut
    }

    /// The highest id that was used; ids of clients are odd.
    private var last: Int32 = -1
    /// The ids that were left out, in ascending order.
    private var gaps: [ClosedRange<Int32>] = []

    /// Gaps that are stored. Those before are forgotten, and their ids count as known.
    ///
    /// 8: common clients leave no id out, and the memory of a connection must be bounded.
    private static let gapsMax = 8

    /// A HEADERS frame with that id has begun.
    mutating func use(_ id: Int32) -> Use {
        // nghttp2 ends the connection after other ids.
        guard id > 0, id % 2 == 1 else { return .known }
        guard id > last else {
            return gaps.contains { $0.contains(id) } ? .leftOut : .known
        }
        if id - 2 > last {
            if gaps.count == Self.gapsMax { gaps.removeFirst() }
            gaps.append((last + 2)...(id - 2))
        }
        last = id
        return .new
    }
}
