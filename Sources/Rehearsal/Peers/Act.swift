/// What a backend does about one request, drawn beforehand, and what a gateway may make of it.
package struct Act {
    /// Milliseconds from the request's last byte to the first piece, and between pieces.
    package var delay = 0
    package var gap = 0
    /// What is sent, in this order.
    package var pieces: [[UInt8]] = []
    package var ending = Ending.stays
    /// What comes afterwards, unasked, if the connection is still quiet then.
    package var afterwards: Afterwards?
    package var outcome = Outcome.nothing
    /// Unasked bytes follow the answer at once.
    package var isPoisonous = false

    package init() {}

    package enum Ending {
        case stays, closes, resets, halfCloses
    }

    package struct Afterwards {
        package enum Kind { case closes, resets, speaks }
        package var delay: Int
        package var kind: Kind

        package init(delay: Int, kind: Kind) {
            self.delay = delay
            self.kind = kind
        }
    }

    package enum Outcome {
        /// The gateway waits in vain.
        case nothing
        /// A whole answer; without a tree its body is no JSON.
        case answer(status: Int, body: [UInt8], tree: Tree?)
        /// No answer, for this reason.
        case fails(FailureKind)
    }

    /// All bytes of all pieces.
    package var byteCount: Int { pieces.reduce(0) { $0 + $1.count } }

    /// Whether the end of the connection is part of the answer.
    package var endsWithConnection = false

    /// Bytes from its first to the last that belongs to the answer.
    package var answerLength = 0
}
