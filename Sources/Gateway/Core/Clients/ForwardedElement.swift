import Basics
import HTTP
import Reactor

/// One element of a `Forwarded` header (RFC 7239 section 4): what one proxy states about the
/// request that it received.
struct ForwardedElement: Equatable {
    /// `for`; nil where it is missing, `unknown`, obfuscated or not an address.
    var address: IPAddress?
    /// `proto`, where it is a valid scheme.
    var proto: Bytes?
    /// `host`
    var host: Bytes?

    /// The elements of one line, in order; nil for each malformed one. After an unterminated quoted
    /// string, the rest of the line is one malformed element.
    static func all(in line: Bytes) -> [ForwardedElement?] {
        var reader = ForwardedReader(line)
        var elements: [ForwardedElement?] = []
        while let element = reader.nextElement() { elements.append(element) }
        return elements
    }

    /// The elements of one line from the right; nil for each malformed one.
    ///
    /// Read from the right, so that the client's part of the line cannot change the meaning of what
    /// a proxy appended: in `for="x, for=203.0.113.9` the client's quote hides the proxy's element
    /// from a reader that begins at the left.
    static func reversed(in line: Bytes) -> ReversedForwardedElements {
        ReversedForwardedElements(line)
    }
}

/// See `ForwardedElement.reversed`.
struct ReversedForwardedElements: Sequence, IteratorProtocol {
    /// The text to the left of the last element.
    private var rest: Bytes
    /// Whether a search of `rest` has found no opening quote. A line of many quotes is searched only
    /// once.
    private var hasNoOpeningQuote = false

    init(_ line: Bytes) {
        rest = line
    }

    mutating func next() -> ForwardedElement?? {
        while !rest.isEmpty {
            let comma = lastComma()
            let text = rest[(comma.map { $0 + 1 } ?? 0)..<rest.count].trimmed
            rest = rest[0..<(comma ?? 0)]
            if text.isEmpty { continue }
            var reader = ForwardedReader(text)
            return .some(reader.wholeLine())
        }
        return nil
    }

    /// The last comma outside of a quoted string; a quote without a partner is in none.
    private mutating func lastComma() -> Int? {
        var index = rest.count - 1
        while index >= 0 {
            switch rest[index] {
            case UInt8(ascii: ","): return index
            case UInt8(ascii: "\""): index = openingQuote(before: index) ?? index
            default: break
            }
            index -= 1
        }
        return nil
    }

    /// The quote that begins the string which ends at `close`.
    private mutating func openingQuote(before close: Int) -> Int? {
        if hasNoOpeningQuote { return nil }
        var index = close - 1
        while index >= 0 {
            if rest[index] == UInt8(ascii: "\"") {
                var start = index
                while start > 0, rest[start - 1] == UInt8(ascii: "\\") { start -= 1 }
                if (index - start).isMultiple(of: 2) { return index }
            }
            index -= 1
        }
        hasNoOpeningQuote = true
        return nil
    }
}

/// Reads the elements of one line from left to right.
private struct ForwardedReader {
    private let line: Bytes
    private var position = 0

    init(_ line: Bytes) {
        self.line = line
    }

    /// Nil at the end; an element that is nil is malformed.
    mutating func nextElement() -> ForwardedElement?? {
        while position < line.count, isSpace || current == UInt8(ascii: ",") { position += 1 }
        guard position < line.count else { return nil }
        if let element = element() { return .some(element) }
        skipToComma()
        return .some(nil)
    }

    /// The only element of the text; nil if it is malformed, or if there are several.
    mutating func wholeLine() -> ForwardedElement? {
        guard let element = element(), position == line.count else { return nil }
        return element
    }

    /// RFC 7239 defines four parameters; the limit leaves room for extensions and bounds the search
    /// for repeated names.
    private static let pairsMax = 16

    /// Stops at the comma after the element, or at the end. Spaces around a `;` are accepted. An
    /// element with a repeated name or more than `pairsMax` pairs is malformed.
    private mutating func element() -> ForwardedElement? {
        var element = ForwardedElement()
        var names: [String] = []
        while true {
            skipSpaces()
            if position < line.count, current != UInt8(ascii: ";"), current != UInt8(ascii: ",") {
                guard let (name, value) = pair(), names.count < Self.pairsMax,
                    !names.contains(name)
                else { return nil }
                names.append(name)
                element.set(name, value)
                skipSpaces()
            }
            guard position < line.count, current != UInt8(ascii: ",") else { return element }
            guard current == UInt8(ascii: ";") else { return nil }
            position += 1
        }
    }

    /// `token "=" ( token / quoted-string )`; the name in lower case.
    private mutating func pair() -> (name: String, value: Bytes)? {
        let name = token()
        guard !name.isEmpty, position < line.count, current == UInt8(ascii: "=") else { return nil }
        position += 1
        guard position < line.count else { return nil }
        if current == UInt8(ascii: "\"") {
            guard let value = quotedString() else { return nil }
            return (String(name).lowercased(), value)
        }
        let value = token()
        return value.isEmpty ? nil : (String(name).lowercased(), value)
    }

    private mutating func token() -> Bytes {
        let start = position
        position = line.span.first(notIn: .token, from: position)
        return line[start..<position]
    }

    /// The text between the quotes, unescaped; nil where the closing quote is missing.
    private mutating func quotedString() -> Bytes? {
        var text: [UInt8] = []
        position += 1
        while position < line.count {
            switch current {
            case UInt8(ascii: "\""):
                position += 1
                return Bytes(text)
            case UInt8(ascii: "\\"):
                guard position + 1 < line.count else { return nil }
                position += 1
            default: break
            }
            text.append(current)
            position += 1
        }
        return nil
    }

    /// Skips a malformed element, up to its comma; commas inside quotes do not end it.
    private mutating func skipToComma() {
        while position < line.count, current != UInt8(ascii: ",") {
            if current == UInt8(ascii: "\"") { _ = quotedString() } else { position += 1 }
        }
    }

    private mutating func skipSpaces() {
        while position < line.count, isSpace { position += 1 }
    }

    private var current: UInt8 { line[position] }
    private var isSpace: Bool { current == 0x20 || current == 0x09 }
}

extension ForwardedElement {
    fileprivate mutating func set(_ name: String, _ value: Bytes) {
        switch name {
        case "for": address = ForwardedHop.address(inNode: value)
        case "proto": proto = value.isScheme ? value : nil
        case "host": host = value.isEmpty ? nil : value
        default: break
        }
    }
}

extension Bytes {
    /// RFC 3986 section 3.1.
    var isScheme: Bool {
        guard (1...32).contains(count), isLetter(self[0]) else { return false }
        return span.indices.allSatisfy { index in
            let byte = self[index]
            return isLetter(byte) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
        }
    }

    private func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
