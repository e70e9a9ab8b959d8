/// What a backend does about one request, drawn beforehand, and what a gateway may make of it.
struct Act {
    /// Milliseconds from the request's last byte to the first piece, and between pieces.
    var delay = 0
    var gap = 0
    /// What is sent, in this order.
    var pieces: [[UInt8]] = []
    var ending = Ending.stays
    /// What comes afterwards, unasked, if the connection is still quiet then.
    var afterwards: Afterwards?
    var outcome = Outcome.nothing
    /// Unasked bytes follow the answer at once.
    var isPoisonous = false

    enum Ending {
        case stays, closes, resets, halfCloses
    }

    struct Afterwards {
        enum Kind { case closes, resets, speaks }
        var delay: Int
        var kind: Kind
    }

    enum Outcome {
        /// The gateway waits in vain.
        case nothing
        /// A whole answer; without a tree its body is no JSON.
        case answer(status: Int, body: [UInt8], tree: Tree?)
        /// No answer, for this reason.
        case fails(FailureKind)
    }

    /// All bytes of all pieces.
    var byteCount: Int { pieces.reduce(0) { $0 + $1.count } }

    /// Whether the end of the connection is part of the answer.
    var endsWithConnection = false

    /// Bytes from its first to the last that belongs to the answer.
    var answerLength = 0
}
