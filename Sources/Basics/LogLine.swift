/// One log line under construction. Every value is escaped, so no client can forge a line.
package struct LogLine {
    private let format: Log.Format
    private var text: [UInt8]

    init(format: Log.Format, text: consuming [UInt8]) {
        self.format = format
        self.text = text
    }

    mutating func begin(_ time: [UInt8], _ level: StaticString, _ message: StaticString) {
        switch format {
        case .json:
            text.append(literal: #"{"time":""#)
            text.append(contentsOf: time)
            text.append(literal: #"","level":""#)
            text.append(literal: level)
            text.append(literal: #"","msg":""#)
            text.append(literal: message)
            text.append(UInt8(ascii: "\""))
        case .text:
            text.append(contentsOf: time)
            text.append(UInt8(ascii: " "))
            text.append(literal: level)
            text.append(UInt8(ascii: " "))
            text.append(literal: message)
        }
    }

    consuming func end() -> [UInt8] {
        text.append(literal: format == .json ? "}\n" : "\n")
        return text
    }

    /// Adds a whole number.
    package mutating func add(_ key: StaticString, _ value: Int) {
        beginField(key)
        if value < 0 { text.append(UInt8(ascii: "-")) }
        text.append(decimal: value.magnitude)
    }

    /// Adds a duration in milliseconds, to the microsecond.
    package mutating func add(milliseconds key: StaticString, _ duration: Duration) {
        beginField(key)
        let microseconds = UInt64(max(0, duration.inNanoseconds) / 1_000)
        text.append(decimal: microseconds / 1_000)
        text.append(UInt8(ascii: "."))
        let rest = microseconds % 1_000
        if rest < 100 { text.append(UInt8(ascii: "0")) }
        if rest < 10 { text.append(UInt8(ascii: "0")) }
        text.append(decimal: rest)
    }

    /// Adds a text that does not come from a client.
    package mutating func add(_ key: StaticString, _ value: String) {
        beginField(key)
        quote(isTrusted: true, Bytes(value))
    }

    /// Adds a literal that needs no escaping.
    package mutating func add(literal key: StaticString, _ value: StaticString) {
        beginField(key)
        if format == .json { text.append(UInt8(ascii: "\"")) }
        text.append(literal: value)
        if format == .json { text.append(UInt8(ascii: "\"")) }
    }

    /// Adds arbitrary bytes of a client; bytes beyond ASCII are read as Latin-1.
    package mutating func add(_ key: StaticString, untrusted value: Bytes) {
        beginField(key)
        quote(isTrusted: false, value)
    }

    private mutating func beginField(_ key: StaticString) {
        switch format {
        case .json:
            text.append(literal: #",""#)
            text.append(literal: key)
            text.append(literal: #"":"#)
        case .text:
            text.append(UInt8(ascii: " "))
            text.append(literal: key)
            text.append(UInt8(ascii: "="))
        }
    }

    /// Both formats quote as JSON does; the text format omits unnecessary quotes.
    private mutating func quote(isTrusted: Bool, _ value: Bytes) {
        let bytes = value.span
        if format == .text, !bytes.isEmpty, bytes.indices.allSatisfy({ Self.isPlain(bytes[$0]) }) {
            text.append(copying: bytes)
            return
        }
        text.append(UInt8(ascii: "\""))
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0x20..<0x7F: text.append(byte)
            case 0x80... where isTrusted: text.append(byte)
            default:
                text.append(literal: #"\u00"#)
                text.append(Self.hex(byte >> 4))
                text.append(Self.hex(byte & 15))
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            && byte != UInt8(ascii: "=")
    }

    private static func hex(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}
