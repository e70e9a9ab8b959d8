/// Validates that bytes are one JSON text, in one pass, without recursion and allocation.
///
/// The grammar comes from RFC 8259. In addition the text must be well-formed UTF-8 (Unicode, table
/// 3-7), escaped surrogates must form pairs, and containers nest at most `depthMax` deep. The
/// functions take the offset where a token starts and return the offset where it ends.
///
/// This is the reference for what is valid, and finds the errors. `BlockScanner` accepts long texts
/// faster.
struct JSONScanner: ~Escapable {
    let text: Lookahead
    let depthMax: Int

    @_lifetime(copy text)
    init(_ text: Span<UInt8>, depthMax: Int) {
        self.text = Lookahead(text)
        self.depthMax = min(depthMax, Nesting.depthMax)
    }

    /// The range of the text's value, without the white space around it.
    func wholeText() throws(JSONError) -> Range<Int> {
        let start = text.afterSpace(0)
        let end = try value(start)
        if end < text.count {
            let rest = text.afterSpace(end)
            guard rest == text.count else { throw JSONError(offset: rest, reason: .textAfterValue) }
        }
        return start..<end
    }

    /// Scans one value with its contents.
    private func value(_ start: Int) throws(JSONError) -> Int {
        var open = Nesting()
        var at = start
        while true {
            let byte = text.byte(at)
            switch byte {
            case .quote:
                at = try string(at &+ 1)
            case .zero ... .nine, .minus:
                at = try number(at)
            case .openBrace, .openBracket:
                guard open.depth < depthMax else { throw JSONError(offset: at, reason: .tooDeep) }
                let isObject = byte == .openBrace
                at = text.afterSpace(at &+ 1)
                if text.byte(at) != (isObject ? .closeBrace : .closeBracket) {
                    open.push(isObject: isObject)
                    if isObject { at = try key(at) }
                    continue
                }
                at &+= 1
            default:
                at = try literal(at)
            }

            while open.depth > 0 {
                if open.isObject && text.pair(at) == Word.commaQuote {
                    at = try keyAfterQuote(at &+ 2)
                    break
                }
                at = text.afterSpace(at)
                let byte = text.byte(at)
                if byte == .comma {
                    at = text.afterSpace(at &+ 1)
                    if open.isObject { at = try key(at) }
                    break
                }
                guard byte == (open.isObject ? .closeBrace : .closeBracket) else {
                    throw unexpected(at)
                }
                at &+= 1
                open.pop()
            }
            if open.depth == 0 { return at }
        }
    }

    /// Scans the key of a member and its colon, up to the value.
    @inline(__always)
    private func key(_ start: Int) throws(JSONError) -> Int {
        guard text.byte(start) == .quote else { throw unexpected(start) }
        return try keyAfterQuote(start &+ 1)
    }

    @inline(__always)
    private func keyAfterQuote(_ start: Int) throws(JSONError) -> Int {
        let end = afterPlain(start)
        let value = text.pair(end) == Word.quoteColon ? end &+ 2 : try restOfKey(end)
        return text.afterSpace(value)
    }

    /// Scans a key that is not plain, or not followed by its colon at once.
    @inline(never)
    private func restOfKey(_ start: Int) throws(JSONError) -> Int {
        let colon = text.afterSpace(try string(start))
        guard text.byte(colon) == .colon else { throw unexpected(colon) }
        return colon &+ 1
    }

    @inline(__always)
    func literal(_ start: Int) throws(JSONError) -> Int {
        let word = text.word(start)
        if UInt32(truncatingIfNeeded: word) == Word.true { return start &+ 4 }
        if UInt32(truncatingIfNeeded: word) == Word.null { return start &+ 4 }
        if word & 0xFF_FFFF_FFFF == Word.false { return start &+ 5 }
        throw notLiteral(start)
    }

    /// An error at the first wrong letter.
    @inline(never)
    private func notLiteral(_ start: Int) -> JSONError {
        for name in ["true", "false", "null"] where name.utf8.first == text.byte(start) {
            for (index, letter) in name.utf8.enumerated() {
                if letter != text.byte(start &+ index) { return unexpected(start &+ index) }
            }
        }
        return unexpected(start)
    }

    @inline(never)
    func unexpected(_ offset: Int) -> JSONError {
        offset < text.count
            ? JSONError(offset: offset, reason: .unexpectedByte)
            : JSONError(offset: text.count, reason: .unexpectedEnd)
    }
}
