/// The body that a simulated peer sends, and how it sends and ends it. Times are in milliseconds.
struct BodyScript {
    var framing = Framing.none
    /// The number of bytes of the complete body.
    var length = 0
    /// The most bytes of a piece, and the pause before each.
    var pieceMax = 1000
    var pause = 0
    /// A longer pause, before the piece with this byte.
    var longPause: (at: Int, milliseconds: Int)?
    var ending = Ending.complete
    var trailers: [(name: String, value: String)] = []

    enum Framing: Equatable {
        /// No body.
        case none
        case length
        case chunked
        /// The end of the connection ends the body.
        case untilClose
        /// Bytes of a tunnel, whose end is that of the sending side.
        case raw
    }

    enum Ending: Equatable {
        case complete
        /// Nothing follows these bytes, and the connection stays open.
        case stalls(at: Int)
        /// Ends the sending side behind these bytes.
        case ends(at: Int)
        case resets(at: Int)
        /// A chunk size that is not one follows these bytes.
        case malformed(at: Int)

        /// Whether it ends the sending side.
        var endsConnection: Bool { if case .ends = self { true } else { false } }

        /// The number of bytes that are sent.
        func count(of length: Int) -> Int {
            switch self {
            case .complete: length
            case .stalls(let at), .ends(let at), .resets(let at), .malformed(let at):
                min(at, length)
            }
        }
    }

    /// The number of bytes that are sent.
    var sentCount: Int { ending.count(of: length) }

    /// The header fields that state the framing.
    var fields: [(name: String, value: String)] {
        switch framing {
        case .length: [("Content-Length", "\(length)")]
        case .chunked: [("Transfer-Encoding", "chunked")]
        case .none, .untilClose, .raw: []
        }
    }
}

/// How a simulated peer reads a body.
struct ReadingScript {
    /// It stops behind so many bytes for so long. One of them has no end: it never reads on.
    var pauses: [(after: Int, milliseconds: Int?)] = []
}

extension ReadingScript {
    var neverEnds: Bool { pauses.contains { $0.milliseconds == nil } }
}
