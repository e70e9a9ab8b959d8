/// Checks the trailer fields behind the last chunk (RFC 9112 7.1.2). It neither stores nor uses
/// them: fields behind a body must not change decisions made before it.
struct TrailerSection {
    private enum State {
        case lineStart
        case name
        case value
        case lineFeed
        case lastLineFeed
    }

    private var state = State.lineStart
    private var count = 0
    private var lines = 0

    /// Whether only the LF of the final empty line is missing.
    var isInEmptyLine: Bool {
        if case .lastLineFeed = state { true } else { false }
    }

    /// Whether the byte begins the empty line that ends the section.
    func isEnded(by byte: UInt8) -> Bool {
        if case .lineStart = state { byte == ASCII.carriageReturn } else { false }
    }

    /// True if the byte ends the section.
    mutating func read(_ byte: UInt8, _ limits: Limits) throws(WireError) -> Bool {
        count &+= 1
        guard count <= limits.trailerBytes else { throw .fieldsTooLarge }
        switch state {
        case .lineStart: try beginLine(byte, limits)
        case .name:
            if byte == ASCII.colon {
                state = .value
            } else if !ByteSet.token.contains(byte) {
                throw .fieldName
            }
        case .value:
            if byte == ASCII.carriageReturn {
                state = .lineFeed
            } else if ASCII.isForbiddenInValue(byte) {
                throw byte == ASCII.lineFeed ? .lineEnd : .fieldValue
            }
        case .lineFeed:
            guard byte == ASCII.lineFeed else { throw .lineEnd }
            state = .lineStart
        case .lastLineFeed:
            guard byte == ASCII.lineFeed else { throw .lineEnd }
            return true
        }
        return false
    }

    private mutating func beginLine(_ byte: UInt8, _ limits: Limits) throws(WireError) {
        if byte == ASCII.carriageReturn {
            state = .lastLineFeed
            return
        }
        guard ByteSet.token.contains(byte) else {
            throw byte == ASCII.space || byte == ASCII.tab ? .foldedField : .fieldName
        }
        lines &+= 1
        guard lines <= limits.headerCount else { throw .tooManyFields }
        state = .name
    }
}
