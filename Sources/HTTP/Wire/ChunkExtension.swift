/// The syntax of the extensions of a chunk, byte by byte behind the first semicolon (RFC 9112 7.1.1):
/// names are tokens, values tokens or quoted strings.
enum ChunkExtension {
    case beforeName
    case name
    case behindName
    case beforeValue
    case value
    case quoted
    /// Behind the backslash of a quoted string.
    case escaped
    case behindQuote
    case behindValue

    /// Whether the line may end here. White space stands only before a delimiter.
    var mayEnd: Bool {
        switch self {
        case .name, .value, .behindQuote: true
        case .beforeName, .behindName, .beforeValue, .quoted, .escaped, .behindValue: false
        }
    }

    /// The state behind a byte; nil for a byte that is not valid there.
    func next(_ byte: UInt8) -> ChunkExtension? {
        switch self {
        case .beforeName:
            if ASCII.isWhiteSpace(byte) { return self }
            return ByteSet.token.contains(byte) ? .name : nil
        case .name:
            if ByteSet.token.contains(byte) { return self }
            return ASCII.isWhiteSpace(byte) ? .behindName : delimiter(byte)
        case .behindName: return ASCII.isWhiteSpace(byte) ? self : delimiter(byte)
        case .beforeValue:
            if ASCII.isWhiteSpace(byte) { return self }
            if byte == UInt8(ascii: "\"") { return .quoted }
            return ByteSet.token.contains(byte) ? .value : nil
        case .value:
            return ByteSet.token.contains(byte) ? self : nextExtension(byte)
        case .quoted:
            if ASCII.isForbiddenInValue(byte) { return nil }
            if byte == UInt8(ascii: "\\") { return .escaped }
            return byte == UInt8(ascii: "\"") ? .behindQuote : self
        case .escaped: return ASCII.isForbiddenInValue(byte) ? nil : .quoted
        case .behindQuote, .behindValue: return nextExtension(byte)
        }
    }

    /// What may follow a name.
    private func delimiter(_ byte: UInt8) -> ChunkExtension? {
        switch byte {
        case UInt8(ascii: "="): .beforeValue
        case ASCII.semicolon: .beforeName
        default: nil
        }
    }

    /// What may follow a value.
    private func nextExtension(_ byte: UInt8) -> ChunkExtension? {
        if ASCII.isWhiteSpace(byte) { return .behindValue }
        return byte == ASCII.semicolon ? .beforeName : nil
    }
}
