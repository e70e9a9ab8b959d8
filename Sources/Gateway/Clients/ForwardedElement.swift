import Basics
import HTTP
import Reactor

/// One element of a `Forwarded` header (RFC 7239 section 4): what one proxy says of the request that
/// it received.
struct ForwardedElement: Equatable {
    /// `for`; nil where it is missing, `unknown`, obfuscated, or no address.
    var address: IPAddress?
    /// `proto`, where it is the name of a scheme.
    var proto: Bytes?
    /// `host`
    var host: Bytes?

    /// The elements of one line, in order; nil for each that cannot be read. After a quoted string
    /// that never ends, the rest of the line is one such element.
    static func all(in line: Bytes) -> [ForwardedElement?] {
        var reader = ForwardedReader(line)
        var elements: [ForwardedElement?] = []
        while let element = reader.next() { elements.append(element) }
        return elements
    }
}

/// Reads the elements of one line from left to right.
private struct ForwardedReader {
    private let line: Bytes
    private var at = 0

    init(_ line: Bytes) {
        self.line = line
    }

    /// nil at the end; an element that is nil cannot be read.
    mutating func next() -> ForwardedElement?? {
        while at < line.count, isSpace || here == UInt8(ascii: ",") { at += 1 }
        guard at < line.count else { return nil }
        if let element = element() { return .some(element) }
        skipToComma()
        return .some(nil)
    }

    /// RFC 7239 defines four parameters; the limit leaves room for extensions and bounds the search
    /// for repeated names.
    private static let pairsMax = 16

    /// Stops at the comma behind the element, or at the end. A space around a `;` is let through.
    /// An element with a repeated name or more than `pairsMax` pairs cannot be read.
    private mutating func element() -> ForwardedElement? {
        var element = ForwardedElement()
        var names: [String] = []
        while true {
            skipSpaces()
            if at < line.count, here != UInt8(ascii: ";"), here != UInt8(ascii: ",") {
                guard let (name, value) = pair(), names.count < Self.pairsMax,
                    !names.contains(name)
                else { return nil }
                names.append(name)
                element.set(name, value)
                skipSpaces()
            }
            guard at < line.count, here != UInt8(ascii: ",") else { return element }
            guard here == UInt8(ascii: ";") else { return nil }
            at += 1
        }
    }

    /// `token "=" ( token / quoted-string )`; the name in lower case.
    private mutating func pair() -> (name: String, value: Bytes)? {
        let name = token()
        guard !name.isEmpty, at < line.count, here == UInt8(ascii: "=") else { return nil }
        at += 1
        guard at < line.count else { return nil }
        if here == UInt8(ascii: "\"") {
            guard let value = quotedString() else { return nil }
            return (String(name).lowercased(), value)
        }
        let value = token()
        return value.isEmpty ? nil : (String(name).lowercased(), value)
    }

    private mutating func token() -> Bytes {
        let start = at
        at = line.span.first(notIn: .token, from: at)
        return line[start..<at]
    }

    /// The text between the quotes, without its backslashes; nil where it never ends.
    private mutating func quotedString() -> Bytes? {
        var text: [UInt8] = []
        at += 1
        while at < line.count {
            switch here {
            case UInt8(ascii: "\""):
                at += 1
                return Bytes(text)
            case UInt8(ascii: "\\"):
                guard at + 1 < line.count else { return nil }
                at += 1
            default: break
            }
            text.append(here)
            at += 1
        }
        return nil
    }

    /// To the comma that ends what could not be read; a comma inside of quotes ends nothing.
    private mutating func skipToComma() {
        while at < line.count, here != UInt8(ascii: ",") {
            if here == UInt8(ascii: "\"") { _ = quotedString() } else { at += 1 }
        }
    }

    private mutating func skipSpaces() {
        while at < line.count, isSpace { at += 1 }
    }

    private var here: UInt8 { line[at] }
    private var isSpace: Bool { here == 0x20 || here == 0x09 }
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
