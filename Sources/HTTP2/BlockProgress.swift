/// Whether a header block is being received: HEADERS, and CONTINUATION until one ends the block.
struct BlockProgress {
    private(set) var isInBlock = false
    private var awaitsContinuation = false
    /// Its stream was reset; the rest is only decoded.
    private var hasFailed = false

    /// The head of a frame arrived.
    mutating func frameBegan(isHeaders: Bool, isContinuation: Bool, endsBlock: Bool) {
        if isHeaders {
            isInBlock = true
            awaitsContinuation = !endsBlock
            hasFailed = false
        } else if isContinuation {
            if endsBlock { awaitsContinuation = false }
            if hasFailed, !awaitsContinuation { isInBlock = false }
        } else {
            isInBlock = false
        }
    }

    /// A field is malformed.
    mutating func blockFailed() {
        hasFailed = true
        if !awaitsContinuation { isInBlock = false }
    }

    mutating func blockEnded() { isInBlock = false }
}
