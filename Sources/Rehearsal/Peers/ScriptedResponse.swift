/// A simulated backend's behaviour for one request, drawn in advance, with the outcome that the
/// gateway must see.
package struct ScriptedResponse {
    /// Milliseconds from the request's last byte to the first piece, and between two pieces.
    package var delay = 0
    package var gap = 0
    /// Milliseconds before each piece but the first; empty if `gap` is between all of them.
    package var pauses: [Int] = []
    /// The bytes that the backend sends, in this order.
    package var pieces: [[UInt8]] = []
    package var ending = Ending.stays
    /// An event on the connection after the response, unless the gateway has used it again by then.
    package var idleEvent: IdleEvent?
    package var outcome = Outcome.nothing
    /// Unsolicited bytes follow the response immediately.
    package var hasTrailingData = false
    /// Instead of `pieces` and what follows them, over HTTP/2.
    package var http2: HTTP2Response?

    package init() {}

    package enum Ending {
        case stays, closes, resets, halfCloses
    }

    package struct IdleEvent {
        package enum Kind { case closes, resets, sendsData }
        package var delay: Int
        package var kind: Kind

        package init(delay: Int, kind: Kind) {
            self.delay = delay
            self.kind = kind
        }
    }

    package enum Outcome {
        /// The backend never responds.
        case nothing
        /// A complete response; without a tree, its body is not JSON.
        case response(status: Int, body: [UInt8], tree: Tree?)
        /// No valid response: the gateway must report this failure.
        case fails(FailureKind)
    }

    /// Milliseconds before a piece that is not the first; nil if it follows at once.
    package func pause(before piece: Int) -> Int? {
        if pauses.indices.contains(piece - 1) { return pauses[piece - 1] }
        return gap > 0 ? gap : nil
    }

    /// Number of bytes in all pieces.
    package var byteCount: Int { pieces.reduce(0) { $0 + $1.count } }

    /// The response has no length: the end of the connection completes it.
    package var endsWithConnection = false

    /// Number of bytes of the response itself, without trailing data.
    package var responseLength = 0
}
