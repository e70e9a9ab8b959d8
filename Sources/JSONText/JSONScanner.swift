/// Says whether bytes are one JSON text, in one pass, without recursion and without allocating.
///
/// The grammar is that of RFC 8259 to the letter; beyond it the text must be well-formed UTF-8
/// (Unicode, table 3-7), an escaped surrogate must have its other half, and containers nest at most
/// `depthMax` deep. Functions take the offset where something starts and return the one where it ends.
struct JSONScanner: ~Escapable {
    let text: Span<UInt8>
    let depthMax: Int

    @_lifetime(copy text)
    init(_ text: Span<UInt8>, depthMax: Int) {
        self.text = text
        self.depthMax = min(depthMax, Nesting.depthMax)
    }

    /// Where the one value of the text stands, without the white space around it.
    func wholeText() throws(JSONError) -> Range<Int> {
        let start = afterSpace(0)
        let end = try value(start)
        let rest = afterSpace(end)
        guard rest == text.count else { throw JSONError(offset: rest, reason: .textAfterValue) }
        return start..<end
    }

    /// One value with everything in it.
    private func value(_ start: Int) throws(JSONError) -> Int {
        var open = Nesting()
        var at = start
        while true {
            let byte = text.peek(at)
            if byte == .openBrace || byte == .openBracket {
                guard open.depth < depthMax else { throw JSONError(offset: at, reason: .tooDeep) }
                let isObject = byte == .openBrace
                at = afterSpace(at &+ 1)
                if text.peek(at) != (isObject ? .closeBrace : .closeBracket) {
                    open.push(isObject: isObject)
                    if isObject { at = try key(at) }
                    continue
                }
                at &+= 1
            } else {
                at = try scalar(byte, at)
            }

            while open.depth > 0 {
                at = afterSpace(at)
                let byte = text.peek(at)
                if byte == .comma {
                    at = afterSpace(at &+ 1)
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

    /// The name of a member and its colon, up to the value.
    @inline(__always)
    private func key(_ start: Int) throws(JSONError) -> Int {
        guard text.peek(start) == .quote else { throw unexpected(start) }
        let colon = afterSpace(try string(start))
        guard text.peek(colon) == .colon else { throw unexpected(colon) }
        return afterSpace(colon &+ 1)
    }

    @inline(__always)
    private func scalar(_ first: UInt8, _ start: Int) throws(JSONError) -> Int {
        switch first {
        case .quote: try string(start)
        case .zero ... .nine, .minus: try number(start)
        case UInt8(ascii: "t"): try literal(start, "true")
        case UInt8(ascii: "f"): try literal(start, "false")
        case UInt8(ascii: "n"): try literal(start, "null")
        default: throw unexpected(start)
        }
    }

    private func literal(_ start: Int, _ name: StaticString) throws(JSONError) -> Int {
        for place in 0..<name.utf8CodeUnitCount {
            let letter = unsafe name.utf8Start[place]
            guard text.peek(start &+ place) == letter else { throw unexpected(start &+ place) }
        }
        return start &+ name.utf8CodeUnitCount
    }

    @inline(__always)
    func afterSpace(_ start: Int) -> Int {
        text.peek(start) > .space ? start : afterSomeSpace(start)
    }

    private func afterSomeSpace(_ start: Int) -> Int {
        var at = start
        while text.peek(at).isJSONSpace { at &+= 1 }
        return at
    }

    func unexpected(_ offset: Int) -> JSONError {
        offset < text.count
            ? JSONError(offset: offset, reason: .unexpectedByte)
            : JSONError(offset: text.count, reason: .unexpectedEnd)
    }
}
